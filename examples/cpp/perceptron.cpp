// SPDX-License-Identifier: Apache-2.0
// Training a perceptron with one hidden layer. From the same seed the losses are those of the same
// program in Python (tests/c_api/test_examples.py).
#include <afterglow/afterglow.hpp>
#include <cstdio>

using namespace afterglow::cpp;

static NDArray dense(const NDArray& x, const NDArray& weight, const NDArray& bias) {
  return Operator("FullyConnected")(x, weight, bias)
      .SetParam("num_hidden", weight.GetShape()[0])
      .Invoke();
}

static NDArray cross_entropy(const NDArray& output, const NDArray& label) {
  const NDArray logarithms = Operator("log_softmax")(output).Invoke();
  return mean(Operator("pick")(logarithms, label).Invoke()) * -1;
}

int main() {
  try {
    random_seed(42);
    const int count = 512, batch = 64, inputs = 16, hidden = 32, classes = 4;
    const NDArray data = random_uniform({count, inputs}, -1, 1);
    const NDArray truth = random_normal({classes, inputs});
    const NDArray label =
        Operator("argmax")(dense(data, truth, NDArray({classes}))).SetParam("axis", 1).Invoke();

    std::vector<NDArray> weights = {random_normal({hidden, inputs}, 0, 0.3), NDArray({hidden}),
                                    random_normal({classes, hidden}, 0, 0.3), NDArray({classes})};
    for (NDArray& weight : weights) weight.attach_grad();
    SGDOptimizer optimizer;
    optimizer.SetParam("lr", 0.1)->SetParam("momentum", 0.9);

    std::vector<NDArray> losses;
    for (int epoch = 0; epoch < 5; ++epoch) {
      for (int begin = 0; begin < count; begin += batch) {
        NDArray loss;
        {
          const autograd::Record recording;
          const NDArray x = data.Slice(begin, begin + batch);
          const NDArray h = relu(dense(x, weights[0], weights[1]));
          loss = cross_entropy(dense(h, weights[2], weights[3]), label.Slice(begin, begin + batch));
        }
        loss.backward();
        for (int i = 0; i < 4; ++i) optimizer.Update(i, weights[i], weights[i].grad());
        losses.push_back(loss);
      }
    }
    // Nothing has been waited for so far.
    for (const NDArray& loss : losses) std::printf("%.9g\n", static_cast<double>(loss.item()));
    return 0;
  } catch (const Error& error) {
    std::printf("%s: %s\n", error.kind().c_str(), error.what());
    return 1;
  }
}

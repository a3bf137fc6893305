// SPDX-License-Identifier: Apache-2.0
// A few steps of training LeNet on noise. From the same seed the losses are those of the same
// program in Python (tests/c_api/test_examples.py).
#include <afterglow/afterglow.hpp>
#include <cstdio>

using namespace afterglow::cpp;

static NDArray convolution(const NDArray& x, const NDArray& weight, const NDArray& bias) {
  const NDArray sums = Operator("Convolution")(x, weight, bias)
                           .SetParam("kernel", {5, 5})
                           .SetParam("num_filter", weight.GetShape()[0])
                           .Invoke();
  return Operator("Pooling")(Operator("tanh")(sums).Invoke())
      .SetParam("kernel", {2, 2})
      .SetParam("stride", {2, 2})
      .SetParam("pool_type", "max")
      .Invoke();
}

static NDArray dense(const NDArray& x, const NDArray& weight, const NDArray& bias) {
  return Operator("FullyConnected")(x, weight, bias)
      .SetParam("num_hidden", weight.GetShape()[0])
      .Invoke();
}

int main() {
  try {
    random_seed(7);
    const int batch = 32, classes = 10;
    const NDArray data = random_uniform({batch, 1, 28, 28});
    const NDArray label = Operator("floor")(random_uniform({batch}, 0, classes)).Invoke();
    const std::vector<Shape> shapes = {{20, 1, 5, 5}, {50, 20, 5, 5}, {500, 800}, {classes, 500}};
    std::vector<NDArray> weights;
    for (const Shape& shape : shapes) {
      weights.push_back(random_normal(shape, 0, 0.05));
      weights.push_back(NDArray({shape[0]}));
    }
    for (NDArray& weight : weights) weight.attach_grad();
    SGDOptimizer optimizer;
    optimizer.SetParam("lr", 0.05)->SetParam("wd", 0.001);

    std::vector<NDArray> losses;
    for (int step = 0; step < 6; ++step) {
      NDArray loss;
      {
        const autograd::Record recording;
        const NDArray images =
            convolution(convolution(data, weights[0], weights[1]), weights[2], weights[3]);
        const NDArray hidden = Operator("tanh")(dense(images, weights[4], weights[5])).Invoke();
        const NDArray logarithms =
            Operator("log_softmax")(dense(hidden, weights[6], weights[7])).Invoke();
        loss = mean(Operator("pick")(logarithms, label).Invoke()) * -1;
      }
      loss.backward();
      for (std::size_t i = 0; i < weights.size(); ++i)
        optimizer.Update(static_cast<int>(i), weights[i], weights[i].grad());
      losses.push_back(loss);
    }
    for (const NDArray& loss : losses) std::printf("%.9g\n", static_cast<double>(loss.item()));
    return 0;
  } catch (const Error& error) {
    std::printf("%s: %s\n", error.kind().c_str(), error.what());
    return 1;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface as a program in plain C sees it: what it is for, and what becomes of mistakes. */
#include <afterglow/c_api.h>
#include <afterglow/c_predict_api.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                            \
  do {                                                              \
    if (!(condition)) {                                             \
      printf("%s:%d: CHECK(%s)\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                   \
    }                                                               \
  } while (0)
#define OK(call)                                                              \
  do {                                                                        \
    if (call) {                                                               \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, AGGetLastError()); \
      ++failures;                                                             \
    }                                                                         \
  } while (0)
/* The call is refused with a text that has this part. */
#define REFUSED(part, call)                                                                    \
  do {                                                                                         \
    if (!(call)) {                                                                             \
      printf("%s:%d: %s was not refused\n", __FILE__, __LINE__, #call);                        \
      ++failures;                                                                              \
    } else if (!strstr(AGGetLastError(), part)) {                                              \
      printf("%s:%d: %s: \"%s\" has no \"%s\"\n", __FILE__, __LINE__, #call, AGGetLastError(), \
             part);                                                                            \
      ++failures;                                                                              \
    }                                                                                          \
  } while (0)

static AGArrayHandle array_of(const float* numbers, int rows, int columns) {
  const int64_t shape[] = {rows, columns};
  AGArrayHandle array = NULL;
  OK(AGArrayFromMemory(numbers, sizeof(float) * (size_t)(rows * columns), shape, 2, AG_FLOAT32,
                       AG_CPU, 0, &array));
  return array;
}

/* One result, with at most one parameter. */
static int invoke(const char* op, int count, const AGArrayHandle* inputs, const char* name,
                  const char* value, AGArrayHandle* result) {
  int outputs = 0;
  AGArrayHandle* list = NULL;
  const int outcome = AGInvoke(op, count, inputs, name != NULL, &name, &value, &outputs, &list);
  if (outcome == 0) *result = list[0];
  return outcome;
}

static void test_arrays_and_ops(void) {
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  AGArrayHandle x = array_of(numbers, 2, 3), y = NULL, z = NULL, row = NULL;
  const AGArrayHandle once[] = {x};
  float read[9] = {0};
  int ndim = 0, dtype = -1, device = 0, id = -1, ready = 0, version = 0;
  const int64_t* shape = NULL;

  OK(AGGetVersion(&version));
  CHECK(version == AG_VERSION);
  OK(AGArrayGetShape(x, &ndim, &shape));
  CHECK(ndim == 2 && shape[0] == 2 && shape[1] == 3);
  OK(AGArrayGetType(x, &dtype));
  OK(AGArrayGetContext(x, &device, &id));
  CHECK(dtype == AG_FLOAT32 && device == AG_CPU && id == 0);

  OK(invoke("transpose", 1, once, "axes", "(1, 0)", &y));
  OK(AGArrayRead(y, read, 6 * sizeof(float)));
  CHECK(read[0] == 1 && read[1] == 4 && read[5] == 6);
  OK(invoke("_plus_scalar", 1, once, "scalar", "0.5", &z));
  OK(AGArrayWait(z, -1));
  OK(AGArrayIsReady(z, &ready));
  CHECK(ready == 1);
  OK(AGArrayAt(z, 1, &row));
  OK(AGArrayRead(row, read, 3 * sizeof(float)));
  CHECK(read[0] == 4.5f && read[2] == 6.5f);
  OK(AGArrayFree(z));
  OK(AGArrayFree(row));

  { /* products, and the result in an array that is there */
    const AGArrayHandle both[] = {x, y};
    AGArrayHandle* target = &z;
    const int64_t square[] = {2, 2};
    int outputs = 1;
    OK(AGArrayCreate(square, 2, AG_FLOAT32, AG_CPU, 0, &z));
    OK(AGInvoke("dot", 2, both, 0, NULL, NULL, &outputs, &target));
    OK(AGArrayRead(z, read, 4 * sizeof(float)));
    CHECK(read[0] == 14 && read[1] == 32 && read[3] == 77);
    OK(AGArrayFree(z));
  }
  { /* a number in place of an input, by NumPy's answers */
    OK(invoke("np.add", 1, once, "x2", "2", &z));
    OK(AGArrayRead(z, read, 6 * sizeof(float)));
    CHECK(read[0] == 3 && read[5] == 8);
    OK(AGArrayFree(z));
  }
  { /* several results */
    const char* names[] = {"num_outputs", "axis"};
    const char* values[] = {"3", "1"};
    AGArrayHandle* parts = NULL;
    int i, outputs = 0;
    OK(AGInvoke("SliceChannel", 1, once, 2, names, values, &outputs, &parts));
    CHECK(outputs == 3);
    OK(AGArrayRead(parts[2], read, 2 * sizeof(float)));
    CHECK(read[0] == 3 && read[1] == 6);
    for (i = 0; i < outputs; ++i) OK(AGArrayFree(parts[i]));
  }
  OK(AGArrayWrite(x, (const float[]){9, 9, 9, 9, 9, 9}, 6 * sizeof(float)));
  OK(AGArrayRead(x, read, 6 * sizeof(float)));
  CHECK(read[0] == 9 && read[5] == 9);
  OK(AGArrayFree(x));
  OK(AGArrayFree(y));
}

static void test_gradients(void) {
  const float numbers[] = {1, 2, 3, 4};
  AGArrayHandle x = array_of(numbers, 2, 2), y = NULL, gradient = NULL;
  float read[4] = {0};
  int before = -1;
  OK(AGArrayAttachGradient(x, AG_GRADIENT_WRITE));
  OK(AGSetRecording(1, &before));
  CHECK(before == 0);
  OK(invoke("square", 1, &x, NULL, NULL, &y));
  OK(AGSetRecording(0, NULL));
  OK(AGBackward(1, &y, NULL, 1, 1));
  OK(AGArrayGetGradient(x, &gradient));
  OK(AGArrayRead(gradient, read, sizeof read));
  CHECK(read[0] == 2 && read[3] == 8);
  OK(AGArrayFree(gradient));
  OK(AGGradients(1, &y, &x, 1, &x, 0, 1, &gradient));
  OK(AGArrayRead(gradient, read, sizeof read));
  CHECK(read[0] == 2 && read[3] == 32);
  OK(AGArrayFree(gradient));
  REFUSED("is no head of gradients",
          AGBackward(1, (const AGArrayHandle[]){gradient = array_of(numbers, 2, 2)}, NULL, 0, 1));
  OK(AGArrayFree(gradient));
  OK(AGArrayFree(x));
  OK(AGArrayFree(y));
}

static void test_mistakes(void) {
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  const int64_t negative[] = {-1, 2}, vast[] = {1 << 30, 1 << 30, 1 << 30}, plain[] = {2, 3};
  AGArrayHandle x = array_of(numbers, 2, 3), y = NULL;
  AGModelHandle model = NULL;
  AGArrayHandle* list = NULL;
  const char* const* names = NULL;
  const char* text = NULL;
  float read[6];
  int count = 0;
  size_t many = 0;

  /* handles */
  REFUSED("NULL", AGArrayWait(NULL, -1));
  REFUSED("never made", AGArrayWait((AGArrayHandle)(void*)numbers, -1));
  REFUSED("never made", AGArrayWait((AGArrayHandle)(uintptr_t)42, -1));
  REFUSED("something else", AGModelRun((AGModelHandle)(void*)x, 0, NULL, NULL, &count, &list));
  REFUSED("something else", MXPredForward(x));
  y = array_of(numbers, 2, 3);
  OK(AGArrayFree(y));
  REFUSED("freed", AGArrayFree(y));
  REFUSED("freed", AGArrayRead(y, read, sizeof read));
  REFUSED("freed", invoke("relu", 1, &y, NULL, NULL, &y));
  CHECK(strcmp(AGGetLastErrorKind(), "ValueError") == 0);

  /* shapes, types, sizes */
  REFUSED("negative", AGArrayCreate(negative, 2, AG_FLOAT32, AG_CPU, 0, &y));
  REFUSED("", AGArrayCreate(vast, 3, AG_FLOAT32, AG_CPU, 0, &y));
  REFUSED("33 dimensions", AGArrayCreate((const int64_t[33]){1}, 33, AG_FLOAT32, AG_CPU, 0, &y));
  REFUSED("shape is NULL", AGArrayCreate(NULL, 2, AG_FLOAT32, AG_CPU, 0, &y));
  REFUSED("array is NULL", AGArrayCreate(plain, 2, AG_FLOAT32, AG_CPU, 0, NULL));
  REFUSED("element type 77", AGArrayCreate(plain, 2, 77, AG_CPU, 0, &y));
  REFUSED("no such device", AGArrayCreate(plain, 2, AG_FLOAT32, AG_GPU, 0, &y));
  REFUSED("takes 24", AGArrayFromMemory(numbers, 20, plain, 2, AG_FLOAT32, AG_CPU, 0, &y));
  REFUSED("takes 24", AGArrayRead(x, read, 8));
  REFUSED("data is NULL", AGArrayRead(x, NULL, 24));
  REFUSED("no shape", AGArrayReshape(x, (const int64_t[]){4, 2}, 2, &y));
  REFUSED("index 2", AGArrayAt(x, 2, &y));
  REFUSED("from 1 to 5", AGArraySlice(x, 1, 5, &y));

  /* ops */
  REFUSED("there is no op named 'no_such_op'", invoke("no_such_op", 1, &x, NULL, NULL, &y));
  REFUSED("op is NULL", invoke(NULL, 1, &x, NULL, NULL, &y));
  REFUSED("computed by NumPy", invoke("np.lcm", 1, &x, NULL, NULL, &y));
  REFUSED("computed by NumPy", AGDescribeOp("median", &text));
  REFUSED("[dot]", invoke("dot", 2, (const AGArrayHandle[]){x, x}, NULL, NULL, &y));
  REFUSED("is missing", invoke("dot", 1, &x, NULL, NULL, &y));
  REFUSED("unexpected parameter 'axs'", invoke("sum", 1, &x, "axs", "1", &y));
  REFUSED("axis is 'one'", invoke("sum", 1, &x, "axis", "one", &y));
  REFUSED("axis", invoke("sum", 1, &x, "axis", "7", &y));
  REFUSED("a value is NULL", invoke("sum", 1, &x, "axis", NULL, &y));
  REFUSED("a negative number", AGInvoke("sum", -1, &x, 0, NULL, NULL, &count, &list));
  REFUSED("takes", invoke("relu", 2, (const AGArrayHandle[]){x, x}, NULL, NULL, &y));

  /* what fails later says where it was issued */
  {
    const float beyond[] = {0, 7};
    AGArrayHandle both[2];
    both[0] = x;
    both[1] = array_of(beyond, 1, 2);
    OK(AGSetSite("program.c", 12, "main"));
    OK(invoke("take", 2, both, "mode", "raise", &y));
    OK(AGSetSite(NULL, 0, NULL));
    REFUSED("issued at program.c:12 in main", AGArrayWait(y, -1));
    REFUSED("issued at program.c:12 in main", AGArrayWait(y, -1));
    CHECK(strcmp(AGGetLastErrorKind(), "IndexError") == 0);
    OK(AGArrayFree(y));
    OK(AGArrayFree(both[1]));
  }
  /* the library goes on */
  OK(invoke("relu", 1, &x, NULL, NULL, &y));
  OK(AGArrayRead(y, read, sizeof read));
  CHECK(read[5] == 6);
  OK(AGArrayFree(y));

  /* models and files */
  REFUSED("cannot be opened", AGModelLoad("no-such-symbol.json", "no-such.params", &model));
  REFUSED("symbol_path is NULL", AGModelLoad(NULL, NULL, &model));
  {
    const char** file_names;
    AGArrayHandle* arrays;
    REFUSED("cannot be opened", AGArraysLoad("no-such.params", &many, &arrays, &many, &file_names));
  }
  {
    PredictorHandle predictor;
    NDListHandle ndlist;
    mx_uint length;
    REFUSED("no graph", MXPredCreate("{", "", 0, 1, 0, 0, NULL, NULL, NULL, &predictor));
    REFUSED("'nodes'", MXPredCreate("{}", "", 0, 1, 0, 0, NULL, NULL, NULL, &predictor));
    REFUSED("no place", MXPredCreate("{\"nodes\": [], \"heads\": [[\"a\", 0]]}", "", 0, 1, 0, 0,
                                     NULL, NULL, NULL, &predictor));
    REFUSED("has inputs",
            MXPredCreate("{\"nodes\": [{\"op\": \"null\", \"name\": \"a\", \"inputs\": []},"
                         "{\"op\": \"null\", \"name\": \"b\", \"inputs\": [[0, 0, 0]]}],"
                         " \"heads\": [[1, 0]]}",
                         "", 0, 1, 0, 0, NULL, NULL, NULL, &predictor));
    REFUSED("damaged", MXNDListCreate("damaged file", 12, &ndlist, &length));
    CHECK(strcmp(MXGetLastError(), AGGetLastError()) == 0);
  }
  OK(AGListOps(&many, &names));
  CHECK(many > 500);
  OK(AGArrayFree(x));
}

static void* misuse(void* shared) {
  const AGArrayHandle x = *(const AGArrayHandle*)shared;
  int i;
  for (i = 0; i < 300; ++i) {
    float read[4];
    AGArrayHandle y = NULL;
    /* Another thread frees x at some moment: then this is refused, and nothing else happens. */
    if (invoke("_mul_scalar", 1, &x, "scalar", "2", &y)) {
      if (!strstr(AGGetLastError(), "freed")) return (void*)"another text";
      continue;
    }
    if (AGArrayRead(y, read, sizeof read) || read[3] != 8) return (void*)"another value";
    if (AGArrayFree(y)) return (void*)"not freed";
  }
  return NULL;
}

static void test_two_threads(void) {
  const float numbers[] = {1, 2, 3, 4};
  AGArrayHandle x = array_of(numbers, 2, 2);
  pthread_t threads[2];
  int i;
  for (i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, misuse, &x) == 0);
  for (i = 0; i < 20; ++i) OK(AGWaitAll());
  OK(AGArrayFree(x));
  for (i = 0; i < 2; ++i) {
    void* wrong = NULL;
    CHECK(pthread_join(threads[i], &wrong) == 0);
    if (wrong) printf("a thread saw %s\n", (const char*)wrong), ++failures;
  }
}

/* An op has a text, and says every input and parameter. */
static void test_documentation(void) {
  size_t count = 0, i;
  const char* const* names = NULL;
  const char* text = NULL;
  OK(AGListOps(&count, &names));
  for (i = 0; i < count; ++i) {
    OK(AGDescribeOp(names[i], &text));
    CHECK(strncmp(text, "### ", 4) == 0 && strlen(text) > strlen(names[i]) + 20);
  }
  OK(AGDescribeOp("FullyConnected", &text));
  CHECK(strstr(text, "- array `weight`") && strstr(text, "- `num_hidden`: an integer, needed"));
}

int main(void) {
  test_arrays_and_ops();
  test_gradients();
  test_mistakes();
  test_two_threads();
  test_documentation();
  printf("%d failed\n", failures);
  return failures != 0;
}

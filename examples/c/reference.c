/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what every op does, takes and gives, as Markdown: the reference of this very library. */
#include <afterglow/c_api.h>
#include <stdio.h>

int main(void) {
  size_t count = 0, i;
  const char* const* names = NULL;
  const char* text = NULL;
  if (AGListOps(&count, &names)) goto failed;
  printf("# Ops of the C interface\n\nThere are %zu names.\n", count);
  for (i = 0; i < count; ++i) {
    if (AGDescribeOp(names[i], &text)) goto failed;
    printf("\n%s", text);
  }
  if (AGListRefusedOps(&count, &names)) goto failed;
  printf("\n## Computed by NumPy under Python, refused here\n\n");
  for (i = 0; i < count; ++i) printf("- `%s`\n", names[i]);
  return 0;
failed:
  fprintf(stderr, "%s: %s\n", AGGetLastErrorKind(), AGGetLastError());
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
// The extension module: a table of contents.
#include <stdexcept>
#include <utility>

#include "bindings/array_type.h"
#include "bindings/functions.h"
#include "bindings/held.h"
#include "bindings/keys.h"
#include "bindings/nodes.h"
#include "bindings/operations.h"
#include "bindings/plain.h"
#include "bindings/site.h"
#include "bindings/stand_ins.h"
#include "bindings/tape.h"

NB_MODULE(_core, module) {
  using namespace afterglow::bindings;
  // What it registers with Python and the system stays for good.
  static bool initialized = false;
  if (std::exchange(initialized, true)) {
    throw std::runtime_error(
        "afterglow was imported before and then taken out of sys.modules; a process can have it "
        "once only, so leave it there (importlib.reload works)");
  }
  nanobind::set_leak_warnings(false);  // arrays may live until the process ends
  nanobind::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const afterglow::Error& error) {
      set_python_error(error.kind(), error.what());
    }
  });
  module.def("set_error_classes", set_error_classes);
  module.def("set_package_folder", set_package_folder);
  module.def("set_notebook", set_notebook);
  bind_front_end();
  bind_array_type(module);
  bind_held();
  bind_keys(module);
  bind_op_objects(module);
  bind_operations(module);
  bind_namespace(module);
  bind_nodes(module);
  bind_stand_ins(module);
  bind_plain(module);
  bind_host(module);
  bind_python_calls(module);
  bind_tape(module);
  bind_update(module);
  bind_from_plain(module);
  bind_unique(module);
  bind_walk(module);
  bind_dlpack(module);
  bind_engine(module);
  bind_recipes(module);
  bind_recording(module);
  bind_scopes(module);
  bind_sparse(module);
  bind_trace(module);
}

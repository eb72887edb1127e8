"""Plugins: steps, functions, formats and checks of other packages."""

from gpuetl.error_codes.page import ErrorPage

UNTESTED = "the examples need a package that is installed"
FIX = "Update the package, or uninstall it.  `gpuetl doctor` lists all plugins and what is wrong with them."

PAGES = (
    ErrorPage(
        code="GE1040",
        title="a plugin cannot be imported",
        cause="The pipeline uses a word of a plugin, and the plugin's module raises an error when it is imported.",
        fix=FIX,
        example="- top: {rows: 3, by: id, order_by: amount desc}",
        message="""\
example.yaml:9:9: stage 'result', step 1: step 'top' of package gpuetl-shop 1.2.0 cannot be imported: ModuleNotFoundError: No module named 'shop'  [GE1040]
    - top: {rows: 3, by: id, order_by: amount desc}
      ^^^
Update the package, or uninstall it.""",
        untested=UNTESTED,
    ),
    ErrorPage(
        code="GE1041",
        title="two packages have plugins of one name",
        cause="The pipeline uses a word that two installed packages give to plugins of the same kind.",
        fix="Uninstall one of the packages.",
        example="- top: {rows: 3, by: id, order_by: amount desc}",
        message="""\
example.yaml:9:9: stage 'result', step 1: gpuetl-best and gpuetl-shop both have a step 'top'  [GE1041]
    - top: {rows: 3, by: id, order_by: amount desc}
      ^^^
Uninstall one of them.""",
        untested=UNTESTED,
    ),
    ErrorPage(
        code="GE1042",
        title="a plugin is not what its entry point says",
        cause="An entry point names an object of another kind: a step must derive from `MacroStep`, a function be a "
        "`MacroFunction`, a format derive from `Format`, a check from `Check`.  Its name must be that of the entry point.",
        fix="Tell the author of the package.  [Plugins](../plugins.md) says what each kind takes.",
        example="- top: {rows: 3, by: id, order_by: amount desc}",
        message="""\
example.yaml:9:9: stage 'result', step 1: step 'top' of package gpuetl-shop 1.2.0 is not a class that derives from MacroStep  [GE1042]
    - top: {rows: 3, by: id, order_by: amount desc}
      ^^^
Tell its author: docs/plugins.md says what it takes.""",
        untested=UNTESTED,
    ),
    ErrorPage(
        code="GE1043",
        title="a plugin gives something wrong",
        cause="A step of a plugin gives steps that gpuetl does not have or cannot read.  Or a check gives an expression "
        "that is no condition.  Or the plugin's code raises an error.",
        fix="Tell the author of the package.  [Plugins](../plugins.md) says what each kind gives.",
        example="- top: {rows: 3, by: id, order_by: amount desc}",
        message="""\
example.yaml:9:14: stage 'result', step 1: step 'top' of package gpuetl-shop 1.2.0 gives {'fliter': 'n <= 3'}, which is no step of gpuetl  [GE1043]
    - top: {rows: 3, by: id, order_by: amount desc}
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Tell the author of the package: docs/plugins.md says what a step may give.""",
        untested=UNTESTED,
    ),
)

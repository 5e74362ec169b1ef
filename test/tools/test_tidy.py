"""tools/tidy finds what it is there to find, and nothing in good code."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
OPENING = "// What it is.\n//\n// Why it is so.\n//\n// What is not here.\n\n"
GOOD = OPENING + """#include "base/arena.h"
#include <stdio.h>

#define TWICE(x) \\
    ((x) + (x))

typedef struct Pair {
    int first; // strcpy(a, b) in a comment is nobody's business
} Pair;

static const char *const names[] = {"malloc(1)", "pthread_create", "}"};

static int sum(int a, int b, int c, int d, int e) {
    return a + b + c + d + e + names[0][0];
}
"""


class TidyTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        self.write("tools/layers.txt", read(os.path.join(SOURCE, "tools/layers.txt")))

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        if re.match(r"src/.*/\w+\.[ch]$", path):
            self.write(os.path.join(os.path.dirname(path), "README.md"), "# A folder\n")
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def tidy(self):
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "tools/tidy"), "--root",
                               self.root], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        return done.returncode, done.stdout

    def assert_clean(self, path, text):
        self.write(path, text)
        status, output = self.tidy()
        self.assertEqual((status, output), (0, ""))

    def assert_found(self, path, text, *parts):
        """The file alone must give exactly one finding, which has all the parts."""
        self.write(path, text)
        status, output = self.tidy()
        self.assertEqual(status, 1, output)
        self.assertEqual(len(output.splitlines()), 2, output)
        for part in parts:
            self.assertIn(part, output)

    def test_a_source_that_no_build_file_names(self):
        self.write("src/base/meson.build", "files('text/a.c')\n")
        self.assert_clean("src/base/text/a.c", GOOD)
        self.assert_found("src/base/text/b.c", GOOD, "src/base/text/b.c:1:", "[listed]",
                          "src/base/meson.build")

    def test_good_code_is_left_alone(self):
        self.assert_clean("src/flow/good.c", GOOD)

    def test_upward_include_is_found(self):
        self.assert_found("src/flow/a.c", OPENING + '#include "engine/turn.h"\n',
                          'src/flow/a.c:7: [include]', "base, json")

    def test_sideways_include_is_found(self):
        self.assert_found("src/server/a.c", OPENING + '#include "cli/options.h"\n', "[include]")

    def test_include_without_folder_is_found(self):
        self.assert_found("src/base/a.c", OPENING + '#include "arena.h"\n', '"folder/arena.h"')

    def test_engine_sees_two_headers_of_the_store(self):
        self.assert_clean("src/engine/a.c", OPENING + '#include "store/store.h"\n'
                          '#include "store/batch.h"\n')

    def test_engine_sees_no_other_header_of_the_store(self):
        self.assert_found("src/engine/a.c", OPENING + '#include "store/sqlite.h"\n', "[include]")

    def test_private_header_of_another_folder_is_found(self):
        self.assert_found("src/flow/a.c", OPENING + '#include "json/reader_internal.h"\n',
                          "private to json")

    def test_a_room_is_held_to_its_own_line(self):
        self.assert_clean("src/store/redis/a.c", OPENING + '#include "store/remote/remote.h"\n')
        self.assert_found("src/store/kernel/runs/a.c", OPENING + '#include "store/redis/url.h"\n',
                          "store/kernel may include only")

    def test_a_room_sees_what_belongs_to_it(self):
        self.assert_clean("src/store/kernel/runs/a.c", OPENING + '#include "store/kernel/internal.h"\n')

    def test_private_header_of_another_room_is_found(self):
        self.assert_found("src/server/routes/a.c", OPENING + '#include "server/http/internal.h"\n',
                          "private to server/http")

    def test_include_in_a_comment_is_no_include(self):
        self.assert_clean("src/base/a.c", OPENING + '/*\n#include "engine/turn.h"\n*/\n')

    def test_folder_with_too_many_files_is_found(self):
        for i in range(24):
            self.write("src/base/a%d.h" % i, "int a;\n")
        self.assert_clean("src/base/b.h", "int b;\n")
        self.assert_found("src/base/c.h", "int c;\n", "[folder-sources]", "26 sources")

    def test_folder_without_a_readme_is_found(self):
        self.write("src/base/a.h", "int a;\n")
        os.remove(os.path.join(self.root, "src/base/README.md"))
        status, output = self.tidy()
        self.assertEqual((status, output.count("[readme]")), (1, 1), output)

    def test_file_that_a_comment_speaks_of_must_exist(self):
        self.assert_clean("src/base/a.h", "// See a.h, base/a.h and <stdio.h>.\n")
        self.assert_found("src/base/a.h", "int a; // see base/gone.h\n", "a.h:1: [named-file]",
                          "base/gone.h")

    def test_file_that_a_readme_speaks_of_must_exist(self):
        self.write("src/base/a.h", "int a;\n")
        self.assert_found("src/base/README.md", "Begin with `gone.h`.\n", "[named-file]", "gone.h")

    def test_tags_that_name_their_file_are_fine(self):
        self.write("src/base/text/rows.h", "//   [text-rows-1] A row is a row.\nint a; // [text-rows-1]\n")
        self.assert_clean("src/base/a.h", "//   [a-1] One.\n//   [a-2] Two.\nint a; // [a-1], [text-rows-1]\n")

    def test_a_tag_that_names_no_file_is_found(self):
        self.assert_found("src/base/a.h", "//   [Q1] One.\n", "a.h:1: [tag]", "[a-N]")

    def test_a_tag_of_another_file_is_found(self):
        self.assert_found("src/base/a.h", "//   [b-1] One.\n", "[tag]", "names another file")

    def test_a_tag_defined_twice_is_found(self):
        self.write("src/base/a.h", "//   [a-1] One.\n")
        self.assert_found("src/base/a.c", OPENING + "//   [a-1] Another.\n", "[tag]", "src/base/a.")

    def test_a_citation_that_nothing_defines_is_found(self):
        self.assert_found("src/base/a.h", "//   [a-1] One.\nint a; // [a-2]\n", "[tag]", "cites [a-2]")

    def test_unknown_layer_is_found(self):
        self.assert_found("src/misc/a.c", OPENING, "[layer]", "misc")

    def test_main_may_include_every_layer(self):
        self.assert_clean("src/main.c", OPENING + '#include "server/http/http.h"\n#include "cli/cli.h"\n')

    def test_example_may_include_only_the_public_header(self):
        self.assert_found("examples/x/a.c", '#include "abide.h"\n#include "base/text/str.h"\n',
                          "a.c:2: [include]")

    def test_clock_outside_env_is_found(self):
        for call in ("time(NULL)", "clock_gettime(CLOCK_REALTIME, &t)", "getrandom(p, 8, 0)",
                     "rand()"):
            with self.subTest(call):
                self.assert_found("src/engine/a.c", OPENING + "int f(void) { return %s; }\n" % call,
                                  "a.c:7: [call]", call.split("(")[0])

    def test_clock_inside_env_is_allowed(self):
        self.assert_clean("src/base/env_system.c", OPENING + "int f(void) { return time(NULL); }\n")

    def test_names_that_contain_a_forbidden_one_are_allowed(self):
        self.assert_clean("src/engine/a.c", OPENING + "int f(X *x) { return run_time(x) + x->time(1)"
                          " + x->ops.free(x) + timer(3); }\n")

    def test_threads_outside_the_edge_are_found(self):
        self.assert_found("src/store/a.c", OPENING + "pthread_mutex_t lock;\n", "pthread_mutex_t")

    def test_threads_at_the_edge_are_allowed(self):
        self.assert_clean("src/api/a.c", OPENING + "pthread_mutex_t lock;\n")

    def test_heap_outside_base_is_found(self):
        self.assert_found("src/store/a.c", OPENING + "void f(void *p) { free (p); }\n", "uses free")

    def test_heap_in_base_and_flow_heap_is_allowed(self):
        self.write("src/base/memory.c", OPENING + "void f(void *p) { free(p); }\n")
        self.assert_clean("src/flow/value/heap_sweep.c", OPENING + "void f(void *p) { free(p); }\n")

    def test_banned_calls_are_found_even_in_tests(self):
        for call in ("strcpy(a, b)", "strcat(a, b)", "sprintf(a, b)", "gets(a)", "longjmp(a, 1)",
                     "setjmp(a)", "alloca(9)"):
            with self.subTest(call):
                self.assert_found("test/unit/a.c", "int x = %s;\n" % call, "[banned]")

    def test_long_file_is_found(self):
        self.assert_found("src/base/a.c", OPENING + "int a;\n" * 600, "[file-lines]", "606 lines")

    def test_long_header_is_found(self):
        self.assert_found("src/base/a.h", "int a;\n" * 301, "[file-lines]")

    def test_long_function_is_found(self):
        self.assert_found("src/base/a.c", OPENING + "int short_one(void) {\n    return 1;\n}\n\n"
                          "Status *long_one(int a,\n    int b)\n{\n" + "    a++;\n" * 68 + "}\n",
                          "a.c:11: [function-lines] long_one has 72 lines")

    def test_function_of_seventy_lines_is_allowed(self):
        self.assert_clean("src/base/a.c", OPENING + "int f(int a) {\n" + "    a++;\n" * 68 + "}\n")

    def test_long_table_is_no_function(self):
        self.assert_clean("src/base/a.c", OPENING + "const Row rows[] = {\n" + "    ROW(a, b),\n" * 99
                          + "};\n")

    def test_branches_of_the_preprocessor_do_not_confuse_the_braces(self):
        self.assert_found("src/base/a.c", OPENING + "int f(int a) {\n#if A\n    if (a) {\n#else\n"
                          "    if (!a) {\n#endif\n    }\n    return 1;\n}\n"
                          "int g(int a, int b, int c, int d, int e, int f) { return a; }\n",
                          "a.c:16: [parameters] g has 6")

    def test_six_parameters_are_found(self):
        self.assert_found("src/base/a.c", OPENING + "int g(int a, void (*b)(int, int), int c, int d,"
                          "\n      int e, int f) {\n    return a;\n}\n", "[parameters] g has 6")

    def test_five_parameters_and_an_ellipsis_are_allowed(self):
        self.assert_clean("src/base/a.c", OPENING + "int g(int a, void (*b)(int, int), int c, int d,"
                          "\n      int e, ...) {\n    return a;\n}\n")

    def test_a_decision_by_the_text_of_a_code_is_found(self):
        for test in ('strcmp(diag->code, wanted) == 0', 'strstr(detail.message, "exists") != NULL',
                     'strncmp(op.out.diag.code, "STORE_", 6) != 0',
                     'str_equal(code, STR("CLOSED"))', 'strcmp(error->name, "STORE_LOCKED")',
                     'str_equal(str_from(\n        diag.code), other)'):
            with self.subTest(test):
                self.assert_found("src/base/a.c", OPENING + "int f(void) {\n    return %s;\n}\n" % test,
                                  "a.c:8: [code-text]")

    def test_other_texts_may_be_compared(self):
        self.assert_clean("src/base/a.c", OPENING + "int f(void) {\n    // strcmp(diag->code, x)\n"
                          '    return strcmp(method, "GET") + strcmp(row->name, "OK") + diag->code[0];\n}\n')

    def test_wide_line_is_found(self):
        self.assert_found("src/base/a.c", OPENING + "int a" + "a" * 95 + ";\n", "[columns]", "101")

    def test_columns_are_characters_not_bytes(self):
        self.assert_clean("src/base/a.c", OPENING + "// " + "ä" * 97 + "\n")

    def test_missing_opening_is_found(self):
        self.assert_found("src/base/a.c", "// Short.\n\nint a;\n", "a.c:1: [opening]")

    def test_unfinished_work_is_found(self):
        for word in ("TO" "DO", "FIX" "ME", "XX" "X"):
            with self.subTest(word):
                self.assert_found("src/base/a.c", OPENING + "// %s: later\n" % word, "[unfinished]")

    def test_white_space_is_found(self):
        self.assert_found("src/base/a.h", "int a; \n", "[trailing-space]")
        self.assert_found("src/base/a.h", "\tint a;\n", "[tab]")
        self.assert_found("src/base/a.h", "int a;", "[last-newline]")

    def test_machine_paths_are_found(self):
        for path in ("/wo" "rk/main", "/ro" "ot/x"):
            with self.subTest(path):
                self.assert_found("docs/a.md", "See %s.\n" % path, "[machine-path]")

    def test_layer_whose_headers_shadow_the_system_is_found(self):
        self.assert_found("src/base/meson.build", "base_lib = static_library('b', files('a.c'),\n"
                          "  include_directories: src_inc)\n", "[system-headers]")
        self.assert_clean("src/base/meson.build", "base_lib = static_library('b', files('a.c'),\n"
                          "  kwargs: layer_kwargs)\n")

    def test_exception_with_a_reason_is_honoured(self):
        self.write("tools/tidy-exceptions.txt", "function-lines src/base/a.c:f  it is one switch\n")
        self.assert_clean("src/base/a.c", OPENING + "int f(int a) {\n" + "    a++;\n" * 80 + "}\n")

    def test_exception_for_one_function_does_not_cover_another(self):
        self.write("tools/tidy-exceptions.txt", "function-lines src/base/a.c:f  it is one switch\n")
        body = "(int a) {\n" + "    a++;\n" * 80 + "}\n"
        self.assert_found("src/base/a.c", OPENING + "int f" + body + "int g" + body, "g has 82")

    def test_exception_without_a_reason_is_found(self):
        self.assert_found("tools/tidy-exceptions.txt", "columns src/base/a.c\n", "no reason given")

    def test_exception_that_is_not_needed_is_found(self):
        self.assert_found("tools/tidy-exceptions.txt", "columns src/base/a.c  wide\n",
                          "not needed any more")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


if __name__ == "__main__":
    tap.main()

#include "InspectorPage.h"

#ifdef __has_embed

// The compiler embeds the files (C23, 6.10.3), and recompiles when one of them changes.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wc23-extensions"
#endif
#define END(name) (name + sizeof name)
static const unsigned char app_js[] = {
#embed "page/app.js"
};
static const unsigned char care_bodies_js[] = {
#embed "page/care/bodies.js"
};
static const unsigned char care_diff_js[] = {
#embed "page/care/diff.js"
};
static const unsigned char care_edit_js[] = {
#embed "page/care/edit.js"
};
static const unsigned char care_form_js[] = {
#embed "page/care/form.js"
};
static const unsigned char care_lines_js[] = {
#embed "page/care/lines.js"
};
static const unsigned char care_redact_js[] = {
#embed "page/care/redact.js"
};
static const unsigned char care_review_js[] = {
#embed "page/care/review.js"
};
static const unsigned char care_send_js[] = {
#embed "page/care/send.js"
};
static const unsigned char care_uploads_js[] = {
#embed "page/care/uploads.js"
};
static const unsigned char core_api_js[] = {
#embed "page/core/api.js"
};
static const unsigned char core_dialogs_js[] = {
#embed "page/core/dialogs.js"
};
static const unsigned char core_dom_js[] = {
#embed "page/core/dom.js"
};
static const unsigned char core_formats_js[] = {
#embed "page/core/formats.js"
};
static const unsigned char core_json_js[] = {
#embed "page/core/json.js"
};
static const unsigned char core_route_js[] = {
#embed "page/core/route.js"
};
static const unsigned char core_rows_js[] = {
#embed "page/core/rows.js"
};
static const unsigned char core_start_js[] = {
#embed "page/core/start.js"
};
static const unsigned char core_text_js[] = {
#embed "page/core/text.js"
};
static const unsigned char core_theme_js[] = {
#embed "page/core/theme.js"
};
static const unsigned char detail_copy_js[] = {
#embed "page/detail/copy.js"
};
static const unsigned char detail_detail_js[] = {
#embed "page/detail/detail.js"
};
static const unsigned char detail_sections_js[] = {
#embed "page/detail/sections.js"
};
static const unsigned char detail_tree_js[] = {
#embed "page/detail/tree.js"
};
static const unsigned char detail_viewer_js[] = {
#embed "page/detail/viewer.js"
};
static const unsigned char files_drop_js[] = {
#embed "page/files/drop.js"
};
static const unsigned char files_record_js[] = {
#embed "page/files/record.js"
};
static const unsigned char files_tabs_js[] = {
#embed "page/files/tabs.js"
};
static const unsigned char index_html[] = {
#embed "page/index.html"
};
static const unsigned char list_columns_js[] = {
#embed "page/list/columns.js"
};
static const unsigned char list_complete_js[] = {
#embed "page/list/complete.js"
};
static const unsigned char list_first_js[] = {
#embed "page/list/first.js"
};
static const unsigned char list_grid_js[] = {
#embed "page/list/grid.js"
};
static const unsigned char list_groups_js[] = {
#embed "page/list/groups.js"
};
static const unsigned char list_marks_js[] = {
#embed "page/list/marks.js"
};
static const unsigned char list_search_js[] = {
#embed "page/list/search.js"
};
static const unsigned char list_waterfall_js[] = {
#embed "page/list/waterfall.js"
};
static const unsigned char replay_replay_js[] = {
#embed "page/replay/replay.js"
};
static const unsigned char style_css[] = {
#embed "page/style.css"
};
static const unsigned char traffic_paused_js[] = {
#embed "page/traffic/paused.js"
};
static const unsigned char traffic_rules_js[] = {
#embed "page/traffic/rules.js"
};
static const unsigned char traffic_words_js[] = {
#embed "page/traffic/words.js"
};
static const unsigned char worker_js[] = {
#embed "page/worker.js"
};

#else

// With an older compiler, the assembler embeds them.
#ifdef __APPLE__
#define SECTION ".const_data"
#define SYMBOL "_"
#else
#define SECTION ".section .rodata"
#define SYMBOL ""
#endif
#define END(name) name##_end
#define EMBED(name, file)                                                                                                                \
    __asm__(SECTION "\n" SYMBOL #name ":\n.incbin \"" file "\"\n" SYMBOL #name "_end:\n.byte 0\n.text\n");                                 \
    extern const unsigned char name[] __attribute__((visibility("hidden")));                                                              \
    extern const unsigned char name##_end[] __attribute__((visibility("hidden")))
EMBED(app_js, "app.js");
EMBED(care_bodies_js, "care/bodies.js");
EMBED(care_diff_js, "care/diff.js");
EMBED(care_edit_js, "care/edit.js");
EMBED(care_form_js, "care/form.js");
EMBED(care_lines_js, "care/lines.js");
EMBED(care_redact_js, "care/redact.js");
EMBED(care_review_js, "care/review.js");
EMBED(care_send_js, "care/send.js");
EMBED(care_uploads_js, "care/uploads.js");
EMBED(core_api_js, "core/api.js");
EMBED(core_dialogs_js, "core/dialogs.js");
EMBED(core_dom_js, "core/dom.js");
EMBED(core_formats_js, "core/formats.js");
EMBED(core_json_js, "core/json.js");
EMBED(core_route_js, "core/route.js");
EMBED(core_rows_js, "core/rows.js");
EMBED(core_start_js, "core/start.js");
EMBED(core_text_js, "core/text.js");
EMBED(core_theme_js, "core/theme.js");
EMBED(detail_copy_js, "detail/copy.js");
EMBED(detail_detail_js, "detail/detail.js");
EMBED(detail_sections_js, "detail/sections.js");
EMBED(detail_tree_js, "detail/tree.js");
EMBED(detail_viewer_js, "detail/viewer.js");
EMBED(files_drop_js, "files/drop.js");
EMBED(files_record_js, "files/record.js");
EMBED(files_tabs_js, "files/tabs.js");
EMBED(index_html, "index.html");
EMBED(list_columns_js, "list/columns.js");
EMBED(list_complete_js, "list/complete.js");
EMBED(list_first_js, "list/first.js");
EMBED(list_grid_js, "list/grid.js");
EMBED(list_groups_js, "list/groups.js");
EMBED(list_marks_js, "list/marks.js");
EMBED(list_search_js, "list/search.js");
EMBED(list_waterfall_js, "list/waterfall.js");
EMBED(replay_replay_js, "replay/replay.js");
EMBED(style_css, "style.css");
EMBED(traffic_paused_js, "traffic/paused.js");
EMBED(traffic_rules_js, "traffic/rules.js");
EMBED(traffic_words_js, "traffic/words.js");
EMBED(worker_js, "worker.js");

#endif

#define FILE_OF(path, type, name) {path, type, name, END(name)}
static const struct inspector_file files[] = {
    FILE_OF("/app.js", "text/javascript; charset=utf-8", app_js),
    FILE_OF("/care/bodies.js", "text/javascript; charset=utf-8", care_bodies_js),
    FILE_OF("/care/diff.js", "text/javascript; charset=utf-8", care_diff_js),
    FILE_OF("/care/edit.js", "text/javascript; charset=utf-8", care_edit_js),
    FILE_OF("/care/form.js", "text/javascript; charset=utf-8", care_form_js),
    FILE_OF("/care/lines.js", "text/javascript; charset=utf-8", care_lines_js),
    FILE_OF("/care/redact.js", "text/javascript; charset=utf-8", care_redact_js),
    FILE_OF("/care/review.js", "text/javascript; charset=utf-8", care_review_js),
    FILE_OF("/care/send.js", "text/javascript; charset=utf-8", care_send_js),
    FILE_OF("/care/uploads.js", "text/javascript; charset=utf-8", care_uploads_js),
    FILE_OF("/core/api.js", "text/javascript; charset=utf-8", core_api_js),
    FILE_OF("/core/dialogs.js", "text/javascript; charset=utf-8", core_dialogs_js),
    FILE_OF("/core/dom.js", "text/javascript; charset=utf-8", core_dom_js),
    FILE_OF("/core/formats.js", "text/javascript; charset=utf-8", core_formats_js),
    FILE_OF("/core/json.js", "text/javascript; charset=utf-8", core_json_js),
    FILE_OF("/core/route.js", "text/javascript; charset=utf-8", core_route_js),
    FILE_OF("/core/rows.js", "text/javascript; charset=utf-8", core_rows_js),
    FILE_OF("/core/start.js", "text/javascript; charset=utf-8", core_start_js),
    FILE_OF("/core/text.js", "text/javascript; charset=utf-8", core_text_js),
    FILE_OF("/core/theme.js", "text/javascript; charset=utf-8", core_theme_js),
    FILE_OF("/detail/copy.js", "text/javascript; charset=utf-8", detail_copy_js),
    FILE_OF("/detail/detail.js", "text/javascript; charset=utf-8", detail_detail_js),
    FILE_OF("/detail/sections.js", "text/javascript; charset=utf-8", detail_sections_js),
    FILE_OF("/detail/tree.js", "text/javascript; charset=utf-8", detail_tree_js),
    FILE_OF("/detail/viewer.js", "text/javascript; charset=utf-8", detail_viewer_js),
    FILE_OF("/files/drop.js", "text/javascript; charset=utf-8", files_drop_js),
    FILE_OF("/files/record.js", "text/javascript; charset=utf-8", files_record_js),
    FILE_OF("/files/tabs.js", "text/javascript; charset=utf-8", files_tabs_js),
    FILE_OF("/index.html", "text/html; charset=utf-8", index_html),
    FILE_OF("/list/columns.js", "text/javascript; charset=utf-8", list_columns_js),
    FILE_OF("/list/complete.js", "text/javascript; charset=utf-8", list_complete_js),
    FILE_OF("/list/first.js", "text/javascript; charset=utf-8", list_first_js),
    FILE_OF("/list/grid.js", "text/javascript; charset=utf-8", list_grid_js),
    FILE_OF("/list/groups.js", "text/javascript; charset=utf-8", list_groups_js),
    FILE_OF("/list/marks.js", "text/javascript; charset=utf-8", list_marks_js),
    FILE_OF("/list/search.js", "text/javascript; charset=utf-8", list_search_js),
    FILE_OF("/list/waterfall.js", "text/javascript; charset=utf-8", list_waterfall_js),
    FILE_OF("/replay/replay.js", "text/javascript; charset=utf-8", replay_replay_js),
    FILE_OF("/style.css", "text/css; charset=utf-8", style_css),
    FILE_OF("/traffic/paused.js", "text/javascript; charset=utf-8", traffic_paused_js),
    FILE_OF("/traffic/rules.js", "text/javascript; charset=utf-8", traffic_rules_js),
    FILE_OF("/traffic/words.js", "text/javascript; charset=utf-8", traffic_words_js),
    FILE_OF("/worker.js", "text/javascript; charset=utf-8", worker_js),
    {NULL, NULL, NULL, NULL},
};

const struct inspector_file *inspector_file_at(size_t number) { return &files[number]; }

#include "InspectorPage.h"
static const unsigned char index_html[] = {
#embed "page/index.html"
};
static const struct inspector_file files[] = {
    {"/index.html", "text/html; charset=utf-8", index_html, index_html + sizeof index_html},
    {0, 0, 0, 0},
};
const struct inspector_file *inspector_file_at(size_t number) { return &files[number]; }

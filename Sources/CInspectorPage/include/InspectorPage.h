#ifndef INSPECTOR_PAGE_H
#define INSPECTOR_PAGE_H

#include <stddef.h>

/// A file of the inspector's page.
struct inspector_file {
    /// As in a URL, such as `/list/grid.js`; NULL after the last file.
    const char *path;
    /// Its media type.
    const char *type;
    const unsigned char *bytes;
    /// Just past the last byte.
    const unsigned char *end;
};

/// The files, numbered from 0.
const struct inspector_file *inspector_file_at(size_t number);

#endif

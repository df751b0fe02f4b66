extension HTTPHeaders {
    /// These fields after a change to a view of them that has each name once.
    ///
    /// Names that were not touched keep all their fields; changed ones keep their first place; new ones come last, by name.
    func changed(from old: HTTPHeaders, to new: HTTPHeaders) -> HTTPHeaders {
        var result = self
        for field in old where new.value(for: field.name) == nil { result.remove(name: field.name) }
        for field in new.sorted() where old.value(for: field.name) != field.value {
            result.update(name: result.first { $0.isNamed(field.name) }?.name ?? field.name, value: field.value)
        }
        return result
    }
}

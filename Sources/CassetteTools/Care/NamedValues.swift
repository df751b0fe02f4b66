/// Compares lists of names with values: by name, and in order among the values of one name.
enum NamedValues {
    /// - Parameters:
    ///   - kind: what stands before the name in a place, as `query:`.
    ///   - showsAll: whether the numbers of placeholders count.
    static func changes(
        _ old: [(name: String, value: String)], _ new: [(name: String, value: String)], kind: String, showsAll: Bool
    ) -> [FieldChange] {
        let values = { (list: [(name: String, value: String)]) in Dictionary(grouping: list, by: \.name).mapValues { $0.map(\.value) } }
        let (before, after) = (values(old), values(new))
        var changes: [FieldChange] = []
        var seen: Set<String> = []
        for name in (old + new).map(\.name) where seen.insert(name).inserted {
            let (one, other) = (before[name], after[name])
            guard one != other else { continue }
            guard showsAll || one?.map(PlaceholderNumbers.leftOut) != other?.map(PlaceholderNumbers.leftOut) else { continue }
            changes.append(
                FieldChange(
                    kind + name, one?.joined(separator: ", "), other?.joined(separator: ", "), isSecret: SecretShapes.isSecretName(name)))
        }
        return changes
    }
}

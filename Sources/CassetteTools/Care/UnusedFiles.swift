internal import CassetteModel
internal import CassetteStore

/// The files in a cassette's folder of bodies that no cassette names.
enum UnusedFiles {
    /// Paths relative to the cassette's folder, in order of their names; none where there is no folder.
    static func find(beside path: String, _ references: CassetteReferences) throws(CassetteError) -> [String] {
        let location = FileLocation(path)
        var unused: [String] = []
        do {
            let folder = try OpenFolder(location.bodiesName, in: OpenFolder(location.folder))
            try folder.forEachName { name throws(CassetteError) in
                let path = "\(location.bodiesName)/\(name)"
                let isUsed = name == RawSpool.fileName ? references.usesRawSpool : references.sidecars.contains(path)
                if !isUsed { unused.append(path) }
            }
        } catch {
            guard error.code == .notFound else { throw error }
        }
        return unused.sorted()
    }
}

internal import TapeProxy

/// A configuration file: settings for all cassettes, and for those of some names.
struct ConfigFile: Sendable {
    /// Settings for cassettes whose name fits.
    struct Section: Sendable {
        let glob: CassetteGlob
        let settings: RunSettings
    }

    /// Larger than what people write by far.
    static let sizeLimit = 256 << 10

    let path: String
    let settings: RunSettings
    let sections: [Section]

    init(path: String) throws(SettingError) {
        let bytes: [UInt8]
        do {
            bytes = try WholeFile.read(path)
        } catch {
            throw SettingError(error.message)
        }
        guard bytes.count <= Self.sizeLimit else {
            throw SettingError("\"\(path)\" has more than \(Quantity.bytes(Self.sizeLimit)): is it the right file?")
        }
        try self.init(path: path, bytes: bytes)
    }

    /// - Parameter path: a name that ends with `.json` means JSON, any other YAML.
    init(path: String, bytes: [UInt8]) throws(SettingError) {
        let root = path.hasSuffix(".json") ? try ConfigNode.json(bytes, file: path) : try ConfigNode.yaml(bytes, file: path)
        let reader = ConfigReader(file: path)
        var sections: [Section] = []
        self.settings = try reader.settings(root) { (part) throws(SettingError) in
            let settings = try reader.settings(part.value, section: part.name) { _ in }
            sections.append(Section(glob: CassetteGlob(part.name), settings: settings))
        }
        self.sections = sections
        self.path = path
    }

    /// What the file says of a cassette: later sections lie over earlier ones, and all over what is said for all.
    func settings(for cassette: String, in folder: String) -> RunSettings {
        let folderOfFile = CassetteGlob.folder(of: CassetteGlob.absolute(self.path, in: folder))
        let name = CassetteGlob.name(of: cassette, in: folder, seenFrom: folderOfFile)
        return self.sections.filter { $0.glob.fits(name) }.reduce(self.settings) { $0.adding($1.settings) }
    }
}

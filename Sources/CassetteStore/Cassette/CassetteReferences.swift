internal import CassetteFormat
public import CassetteModel
internal import TapeBytes

/// The files beside a cassette that it names, together with those that recordings kept next to it name: they share one folder.
public struct CassetteReferences: Sendable {
    /// Paths as the cassettes have them.
    public private(set) var sidecars: Set<String> = []
    public private(set) var usesRawSpool = false

    /// - Parameters:
    ///   - path: of the cassette; `pets.new.json` and its like beside `pets.json` count too.
    ///   - removed: one of them that is about to be removed.
    /// - Throws: where one of them cannot be read; then nobody knows what may go.
    public init(familyOf path: String, without removed: String? = nil) throws(CassetteError) {
        if path != removed, CassettePlace.exists(path) { try self.add(path) }
        for other in CassettePlace.sharingBodies(with: path) where other != removed { try self.add(other) }
    }

    private mutating func add(_ path: String) throws(CassetteError) {
        let reader = try CassetteReader(path: path)
        for position in 0..<reader.count {
            let bytes = try reader.bytes(at: position)
            // Neither a sidecar nor a raw slice can be there without these letters.
            guard bytes.withUnsafeBytes({ ByteSearch.contains(".bodies/", in: $0) }) else { continue }
            let interaction = try InteractionDecoder.decode(bytes)
            for body in [interaction.request.body, interaction.response?.body] { self.add(body) }
        }
    }

    private mutating func add(_ body: Body?) {
        guard let body else { return }
        if case .raw = body.content { self.usesRawSpool = true }
        self.sidecars.formUnion(body.content.sidecars.map(\.path))
        if let original = body.original { self.sidecars.insert(original.path) }
    }

    /// Removes what nobody names any more.
    ///
    /// - Returns: how many sidecars went.
    @discardableResult
    public func tidy(_ store: BodyStore) throws(CassetteError) -> Int {
        if !self.usesRawSpool { try store.removeRawSpool() }
        return try store.removeSidecars(keeping: self.sidecars)
    }
}

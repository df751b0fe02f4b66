/// A request taken apart for comparison with another: pieces that are equal have equal hashes and bytes.
///
/// Bounded, whatever the request: it sees the first `byteLimit` octets of a key, and past `pieceLimit` segments or items
/// the rest is one piece.
struct RequestParts: Sendable {
    struct Piece: Sendable, Equatable {
        var bytes: ArraySlice<UInt8>
        private var hash: Int

        init(_ bytes: ArraySlice<UInt8>) {
            self.bytes = bytes
            var hasher = Hasher()
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
            self.hash = hasher.finalize()
        }

        static func == (left: Piece, right: Piece) -> Bool { left.hash == right.hash && left.bytes == right.bytes }

        /// What is before the first `=`, or all of it.
        var name: ArraySlice<UInt8> { self.bytes.prefix { $0 != UInt8(ascii: "=") } }

        /// What is before the first colon, or all of it.
        var fieldName: ArraySlice<UInt8> { self.bytes.prefix { $0 != UInt8(ascii: ":") } }

        /// What follows the colon and a space.
        var fieldValue: ArraySlice<UInt8> { self.bytes.dropFirst(self.fieldName.count + 2) }
    }

    /// Longer than the request lines that servers take (8,000 octets, RFC 9112, 3).
    static let byteLimit = 8192
    static let pieceLimit = 32

    var method: Piece
    var scheme: Piece
    var userInformation: Piece
    var host: Piece
    var port: Piece
    var path: ArraySlice<UInt8>
    var segments: [Piece]
    var items: [Piece]
    /// Header fields, `name: value`.
    var fields: [Piece]

    init(_ key: UnsafeRawBufferPointer) {
        let bytes = Array(key.prefix(Self.byteLimit))
        let layout = bytes.withUnsafeBytes { RequestLayout($0) }
        self.method = Piece(bytes[layout.method])
        self.scheme = Piece(bytes[layout.scheme])
        self.userInformation = Piece(bytes[layout.userInformation])
        self.host = Piece(bytes[layout.host])
        self.port = Piece(bytes[layout.port])
        self.path = bytes[layout.path]
        self.segments = Self.pieces(bytes[layout.path], separator: UInt8(ascii: "/"))
        self.items = layout.query.map { Self.pieces(bytes[$0], separator: UInt8(ascii: "&")) } ?? []
        self.fields = layout.fields.isEmpty ? [] : Self.pieces(bytes[layout.fields], separator: 10)
    }

    private static func pieces(_ bytes: ArraySlice<UInt8>, separator: UInt8) -> [Piece] {
        bytes.split(separator: separator, maxSplits: Self.pieceLimit - 1, omittingEmptySubsequences: false).map { Piece($0) }
    }
}

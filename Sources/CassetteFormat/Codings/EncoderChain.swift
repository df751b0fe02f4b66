package import CassetteModel

/// Puts the content codings of a body on again, in the order they were applied.
///
/// With the recorded parameters, and where there are none with some of its own.
package final class EncoderChain {
    /// With what edited content is coded where the recorded coding was never reproduced.
    static let fallback = DeflateParameters(level: 6)

    /// A class, since an array cannot hold what is not copyable.
    private final class Layer {
        var deflater: Deflater?
        var members: MembersDeflater?
        var stored: StoredEncoder?

        init(_ coding: ContentCoding) throws {
            switch coding {
            case .gzip(let parameters, let header): self.deflater = try Self.deflater(parameters, .gzip, header)
            case .gzipMembers(let members): self.members = try Self.deflater(members)
            case .deflate(let parameters): self.deflater = try Self.deflater(parameters, .zlib, .plain)
            case .rawDeflate(let parameters): self.deflater = try Self.deflater(parameters, .raw, .plain)
            case .brotli: self.stored = StoredEncoder(.brotli)
            case .zstandard: self.stored = StoredEncoder(.zstandard)
            }
        }

        private static func deflater(
            _ parameters: DeflateParameters?, _ format: DeflateFormat, _ header: GzipHeader
        ) throws -> Deflater {
            guard let deflater = Deflater(parameters ?? EncoderChain.fallback, format: format, header: header) else {
                throw Self.refused("\(format)")
            }
            return deflater
        }

        private static func deflater(_ members: [GzipMember]) throws -> MembersDeflater {
            guard let deflater = MembersDeflater(members) else { throw self.refused("gzip") }
            return deflater
        }

        private static func refused(_ coding: String) -> CassetteError {
            CassetteError(
                .damaged,
                "zlib does not take the parameters of a body's \(coding) coding: give level 0…9, memory 1…9, window 9…15, strategy 0…4")
        }

        func push(
            _ content: UnsafeRawBufferPointer, isLast: Bool, deliver: (UnsafeRawBufferPointer) throws -> Void
        ) throws {
            try self.stored?.push(content, isLast: isLast, deliver: deliver)
            if try self.members?.push(content, isLast: isLast, deliver: deliver) == false {
                throw CassetteError(.unreadable, "there is no memory to code a body again: free some and try again")
            }
            try self.deflater?.push(content, isLast: isLast) { piece in
                try deliver(piece)
                return true
            }
        }
    }

    private let layers: [Layer]

    package init(_ codings: [ContentCoding]) throws {
        self.layers = try codings.map { try Layer($0) }
    }

    package func push(_ content: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        try self.push(content, to: 0, deliver)
    }

    /// Ends all streams, the innermost first.
    package func finish(deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        for (index, layer) in self.layers.enumerated() {
            try layer.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true) { try self.push($0, to: index + 1, deliver) }
        }
    }

    private func push(_ content: UnsafeRawBufferPointer, to index: Int, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard index < self.layers.count else { return try deliver(content) }
        try self.layers[index].push(content, isLast: false) { try self.push($0, to: index + 1, deliver) }
    }
}

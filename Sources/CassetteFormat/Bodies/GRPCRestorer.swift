package import CassetteModel

extension GRPCMessages {
    /// All bytes of the body in order. The lengths are those of the messages in their present form.
    ///
    /// - Parameter file: opens a file, whose digest the caller checks.
    func source(file: (Sidecar) throws -> ByteSource) throws -> ByteSource {
        var sources: [ByteSource] = []
        var bytes: [UInt8] = []
        for message in self.messages {
            let payload = try message.payload(file: file)
            guard let length = UInt32(exactly: payload.size) else {
                throw CassetteError(.tooLarge, "a message of \(payload.size) bytes is longer than gRPC allows; make it shorter than 4 GiB")
            }
            bytes.append(message.isCompressed ? 1 : 0)
            for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
            if let memory = payload.memory {
                bytes += memory
            } else {
                sources.append(ByteSource(bytes))
                bytes = []
                sources.append(payload)
            }
        }
        bytes += self.rest
        sources.append(ByteSource(bytes))
        return ByteSource(joining: sources)
    }

    /// Whether any message was encoded again, so that its bytes may differ from the recorded ones.
    var hasCodings: Bool { self.messages.contains { $0.coding != nil } }
}

extension GRPCMessage {
    /// The message without its coding.
    package func decoded(file: (Sidecar) throws -> ByteSource) rethrows -> ByteSource {
        if case .file(let sidecar) = self.content { return try file(sidecar) }
        return ByteSource(self.content.inlineBytes ?? [])
    }

    /// The message as on the wire.
    package func payload(file: (Sidecar) throws -> ByteSource) throws -> ByteSource {
        let content = try self.decoded(file: file)
        guard let coding = self.coding else { return content }
        if let original = self.original {
            let kept: ByteSource =
                switch original {
                case .bytes(let bytes): ByteSource(bytes)
                case .file(let sidecar): try file(sidecar)
                }
            if try BodyRestorer.encodes(kept, content, [coding]) { return kept }
        }
        let encoder = try EncoderChain([coding])
        var bytes: [UInt8] = []
        try content.forEachPiece { try encoder.push($0) { bytes.append(contentsOf: $0) } }
        try encoder.finish { bytes.append(contentsOf: $0) }
        return ByteSource(bytes)
    }
}

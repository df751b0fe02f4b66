internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// The bodies of a recording that may serve as compression dictionaries (RFC 9842), by their SHA-256.
///
/// Kept in memory only, since a dictionary may contain secrets. Any thread may use it.
final class SharedDictionaries: Sendable {
    private struct State: Sendable {
        var dictionaries: [[UInt8]: [UInt8]] = [:]
        /// The oldest first.
        var order: [[UInt8]] = []
        var bytes = 0
    }

    /// The total size in bytes. Beyond it, the oldest ones are dropped.
    private static let byteLimit = 16 << 20

    private let state = Guarded(State())

    /// Keeps a response's content if the response declares it as a dictionary (RFC 9842, 2.1).
    func add(_ body: WireBody, _ headers: HeaderFields, digest: (_ bytes: [UInt8]) -> [UInt8]) {
        guard headers.contains("use-as-dictionary"), body.isComplete, !body.bytes.isEmpty, body.bytes.count <= Self.byteLimit,
            let content = Self.content(body.bytes, headers) ?? self.decoded(body.bytes, headers), content.count <= Self.byteLimit
        else { return }
        let hash = digest(content)
        self.state.withLock { state in
            guard state.dictionaries.updateValue(content, forKey: hash) == nil else { return }
            state.order.append(hash)
            state.bytes += content.count
            while state.bytes > Self.byteLimit, let oldest = state.order.first {
                state.order.removeFirst()
                state.bytes -= state.dictionaries.removeValue(forKey: oldest)?.count ?? 0
            }
        }
    }

    /// The content without its codings; nil if they are unknown.
    static func content(_ wire: [UInt8], _ headers: HeaderFields) -> [UInt8]? {
        switch ContentEncoding(headers) {
        case .none: return wire
        case .other: return nil
        case .coded(let names):
            guard let chain = DecoderChain(names, limits: InflateLimits()) else { return nil }
            var content: [UInt8] = []
            _ = try? wire.withUnsafeBytes { try chain.push($0) { content.append(contentsOf: $0) } }
            return chain.finish() ? content : nil
        }
    }

    /// A body that was compressed with one of these dictionaries, decoded; nil for other bodies, and if it cannot be decoded.
    func decoded(_ wire: [UInt8], _ headers: HeaderFields) -> [UInt8]? {
        guard let coding = DictionaryCoding(wire, headers), let dictionary = self.state.withLock({ $0.dictionaries[coding.hash] }) else {
            return nil
        }
        return coding.decoded(with: dictionary)
    }
}

internal import CassetteFormat
public import CassetteModel
internal import TapeBytes

extension RecordedCassette {
    /// The exchange that opened a reused connection, which has the certificates; nil where the cassette does not tell.
    ///
    /// The nearest before `index` counts: each recording numbers its connections from 1, and a cassette can have several recordings.
    public func opening(of connection: ConnectionInfo, before index: Int) -> (index: Int, tls: TLSDetails)? {
        guard connection.isReused else { return nil }
        for earlier in (0..<min(index, self.count)).reversed() {
            // Few exchanges have certificates, and only those are worth decoding.
            guard let bytes = try? self.bytes(at: earlier), bytes.withUnsafeBytes({ ByteSearch.contains("\"chain\"", in: $0) }),
                let opening = try? InteractionDecoder.decode(bytes).connection, opening.id == connection.id,
                opening.remote == connection.remote, !opening.isReused, let tls = opening.tls, !tls.chain.isEmpty
            else { continue }
            return (earlier, tls)
        }
        return nil
    }
}

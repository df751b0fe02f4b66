internal import CassetteStore
internal import TapeBytes

/// What the proxy tells about its run through the magic host.
///
/// Plain values of one moment; whoever makes it leaves out folders, names of origins and anything else that is nobody's business.
struct MagicStatus: Sendable {
    var mode: RecordMode
    var records: Bool
    var replays: Bool
    /// The cassette's file name, without its folder.
    var cassette: String
    /// Where the proxy listens, HOST:PORT.
    var address: String
    /// Exchanges that passed through the proxy.
    var exchanges = 0
    var recorded = 0
    var replayed = 0
    /// Requests that the cassette does not hold.
    var misses = 0
    var tlsFailures = 0
    /// Nil where HTTPS is not intercepted.
    var authority: MagicAuthority?

    /// One JSON object.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("mode")
        writer.string(self.mode.rawValue)
        writer.member("records")
        writer.bool(self.records)
        writer.member("replays")
        writer.bool(self.replays)
        writer.member("cassette")
        writer.string(self.cassette)
        let counts: [(StaticString, Int)] = [
            ("exchanges", self.exchanges), ("recorded", self.recorded), ("replayed", self.replayed), ("misses", self.misses),
            ("tlsFailures", self.tlsFailures),
        ]
        for (name, count) in counts {
            writer.member(name)
            writer.integer(count)
        }
        if let authority {
            writer.member("authority")
            writer.beginObject(.inline)
            writer.member("name")
            writer.string(authority.name)
            writer.member("sha256")
            writer.string(Hex.encode(authority.fingerprint))
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}

/// Why a raw conversation did not follow its script.
struct RawError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }

    /// Bytes in readable form, without the middle of long ones.
    static func text(_ bytes: some Collection<UInt8>) -> String {
        let shown = bytes.count > 700 ? Array(bytes.prefix(350)) + Array(" … ".utf8) + Array(bytes.suffix(350)) : Array(bytes)
        return String(decoding: shown, as: UTF8.self).debugDescription
    }
}

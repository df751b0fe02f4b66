/// Why a raw conversation did not go as its script says.
struct RawError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }

    /// Octets as a person reads them, without the middle of long ones.
    static func text(_ octets: some Collection<UInt8>) -> String {
        let shown = octets.count > 700 ? Array(octets.prefix(350)) + Array(" … ".utf8) + Array(octets.suffix(350)) : Array(octets)
        return String(decoding: shown, as: UTF8.self).debugDescription
    }
}

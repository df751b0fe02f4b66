/// The rule for paths inside a cassette: they must refer to something in the cassette's own folder or below.
public enum CassettePath {
    /// Why a path is refused, in plain words; nil for a safe path.
    ///
    /// A cassette may come from anywhere, so a body's file `../../.ssh/id_rsa` must not be opened.
    public static func objection(to path: some StringProtocol) -> String? {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty else { return "is empty" }
        guard bytes.count <= 1024 else { return "is longer than 1,024 bytes" }
        guard bytes[0] != UInt8(ascii: "/") else { return "is absolute" }
        for byte in bytes where byte < 0x20 || byte == 0x7F { return "has a control character" }
        guard !bytes.contains(UInt8(ascii: "\\")) else { return "has a backslash" }
        for component in bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            if component.isEmpty { return "has an empty component" }
            if component.elementsEqual(".".utf8) || component.elementsEqual("..".utf8) { return "leaves its folder by '.' or '..'" }
        }
        return nil
    }
}

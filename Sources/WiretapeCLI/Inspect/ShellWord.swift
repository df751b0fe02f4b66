/// A word of a command line that people copy into a shell.
enum ShellWord {
    static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: ","), 0x80...:
                true
            default: false
            }
        }
        guard !isPlain || word.isEmpty else { return word }
        // By octets: with an accent behind it, a quote is another character, and a shell still ends the word there.
        var quoted = Array("'".utf8)
        for octet in word.utf8 {
            if octet == UInt8(ascii: "'") { quoted += Array(#"'\'"#.utf8) }
            quoted.append(octet)
        }
        return String(decoding: quoted, as: UTF8.self) + "'"
    }
}

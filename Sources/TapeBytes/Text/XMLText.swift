/// Makes text fit for XML 1.0.
package enum XMLText {
    /// Escapes markup, quotes and white space other than spaces; characters that XML cannot hold become U+FFFD.
    package static func escape(_ text: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\t", "\n", "\r": escaped += "&#\(scalar.value);"
            default: escaped.unicodeScalars.append(Self.isAllowed(scalar) ? scalar : "\u{FFFD}")
            }
        }
        return escaped
    }

    /// XML 1.0, 2.2: Char, without what that section advises against.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && !(0xFDD0...0xFDEF).contains(scalar.value)
            && scalar.value & 0xFFFE != 0xFFFE
    }
}

/// A file's name out of a recording, made fit for a folder of this machine.
///
/// Never holds a separator, a control character or what turns text's direction, and never begins with a dot.
enum SafeFileName {
    /// Octets. File systems take 255; the exchange and the part stand in front.
    static let limit = 120

    /// Empty where nothing of it can stay.
    static func make(_ name: String) -> String {
        // Some browsers once sent whole paths, of either kind.
        let last = name.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? ""
        var kept = String.UnicodeScalarView()
        for scalar in last.unicodeScalars { kept.append(self.isFit(scalar) ? scalar : "_") }
        var safe = String(kept)[...]
        while let first = safe.first, first == "." || first == " " || first == "-" { safe.removeFirst() }
        while let last = safe.last, last == "." || last == " " { safe.removeLast() }
        return self.shortened(String(safe))
    }

    private static func isFit(_ scalar: Unicode.Scalar) -> Bool {
        // What Windows and shells take for something else.
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F && !"<>:\"|?*$`;&!#%".unicodeScalars.contains(scalar) }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned, .spaceSeparator: return false
        default: return true
        }
    }

    /// Takes from the stem, since the extension says what opens the file.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > self.limit else { return name }
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let ending = name[dot...].utf8.count <= 16 ? name[dot...] : ""
        var stem = name[..<(ending.isEmpty ? name.endIndex : dot)]
        while stem.utf8.count + ending.utf8.count > self.limit { stem.removeLast() }
        return String(stem + ending)
    }
}

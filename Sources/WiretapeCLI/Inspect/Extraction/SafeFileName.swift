/// A file's name out of a recording, made fit for a folder of this machine.
///
/// Never holds a separator, a control character or what turns text's direction, and never begins with a dot. Goes by scalars: for file
/// systems a slash with an accent behind it is a slash.
enum SafeFileName {
    /// Octets. File systems take 255; the exchange and the part stand in front.
    static let limit = 120

    /// Empty where nothing of it can stay.
    static func make(_ name: String) -> String {
        // Some browsers once sent whole paths, of either kind.
        let last = name.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? []
        var kept = String.UnicodeScalarView()
        for scalar in last { kept.append(self.isFit(scalar) ? scalar : "_") }
        var safe = kept[...]
        while let first = safe.first, first == "." || first == " " || first == "-" { safe.removeFirst() }
        while let last = safe.last, last == "." || last == " " { safe.removeLast() }
        return String(self.shortened(safe))
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
    private static func shortened(_ name: Substring.UnicodeScalarView) -> String.UnicodeScalarView {
        func size(_ scalars: Substring.UnicodeScalarView) -> Int { Substring(scalars).utf8.count }
        guard size(name) > self.limit else { return String.UnicodeScalarView(name) }
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let ending = size(name[dot...]) <= 16 ? name[dot...] : name[name.endIndex...]
        var stem = name[..<ending.startIndex]
        while size(stem) + size(ending) > self.limit { stem.removeLast() }
        return String.UnicodeScalarView(stem) + ending
    }
}

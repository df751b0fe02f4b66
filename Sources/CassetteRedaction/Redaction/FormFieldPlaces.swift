internal import CassetteModel
internal import TapeBytes

/// Finds the values that rules and exceptions refer to in the content of form fields: `form:data|json:/id`.
///
/// Does not handle multipart bodies, whose parts are contents of their own.
struct FormFieldPlaces {
    private let rules: RedactionRules

    init(_ rules: RedactionRules) {
        self.rules = rules
    }

    /// A value without its escapes, and the offset of each of its bytes in the form, as well as that of its end.
    private struct Value {
        var bytes: [UInt8] = []
        var offsets: [Int] = []

        init(_ form: UnsafeRawBufferPointer, _ range: Range<Int>) {
            var offset = range.lowerBound
            while offset < range.upperBound {
                self.offsets.append(offset)
                if form[offset] == UInt8(ascii: "%"), range.upperBound - offset > 2,
                    let high = Hex.value(form[offset + 1]),
                    let low = Hex.value(form[offset + 2])
                {
                    self.bytes.append(high << 4 | low)
                    offset += 3
                } else {
                    self.bytes.append(form[offset] == UInt8(ascii: "+") ? 32 : form[offset])
                    offset += 1
                }
            }
            self.offsets.append(range.upperBound)
        }

        func source(_ range: Range<Int>) -> Range<Int> {
            self.offsets[range.lowerBound]..<self.offsets[range.upperBound]
        }
    }

    func findings(in form: UnsafeRawBufferPointer) -> (findings: [Finding], kept: [Range<Int>]) {
        var (findings, kept): ([Finding], [Range<Int>]) = ([], [])
        let separator = QuerySurvey.separator(form)
        var start = 0
        while start < form.count {
            let end = ByteScan.index(of: separator, in: form, from: start)
            let equals = ByteScan.index(
                of: UInt8(ascii: "="), in: UnsafeRawBufferPointer(rebasing: form[..<end]), from: start)
            let name = Value(form, start..<equals).bytes
            if equals < end, let rules = self.rules.inside(.form(String(decoding: name, as: UTF8.self))) {
                let value = Value(form, equals + 1..<end)
                let found = value.bytes.withUnsafeBytes { Self.findings(in: $0, rules) }
                findings += found.findings.map { finding in
                    var finding = finding
                    finding.range = value.source(finding.range)
                    if finding.spelling == .number { finding.spelling = .plain }
                    return finding
                }
                kept += found.kept.map(value.source)
            }
            start = end + 1
        }
        return (findings, kept)
    }

    private static func findings(in value: UnsafeRawBufferPointer, _ rules: RedactionRules) -> (
        findings: [Finding], kept: [Range<Int>]
    ) {
        let values = JSONPlaces(rules).findings(in: value)
        let elements = XMLPlaces(rules).findings(in: value)
        return (values.findings + elements.findings, values.kept + elements.kept)
    }
}

internal import TapeBytes

extension RedactionRules {
    /// What the patterns for a place find in its value.
    ///
    /// - Parameter start: of the value in the text whose offsets are wanted.
    func findings(
        at place: RedactionPlace, in value: UnsafeRawBufferPointer, from start: Int, spelling: Finding.Spelling = .plain
    ) -> [Finding] {
        guard !self.rules.isEmpty else { return [] }
        return self.rules.filter { $0.place == place }.flatMap { rule in
            rule.findings(in: value, spelling: spelling).map { finding in
                var finding = finding
                finding.range = finding.range.lowerBound + start..<finding.range.upperBound + start
                return finding
            }
        }
    }

    /// What patterns for items of a query find.
    func findings(inQueryOf url: UnsafeRawBufferPointer, range: Range<Int>) -> [Finding] {
        self.items(url, range) { name in .query(String(decoding: Finding.Spelling.query.decode(name) ?? [], as: UTF8.self)) }
    }

    /// What patterns for fields of a form find.
    func findings(inForm text: UnsafeRawBufferPointer) -> [Finding] {
        self.items(text, 0..<text.count) { name in .form(String(decoding: Finding.Spelling.form.decode(name) ?? [], as: UTF8.self)) }
    }

    private func items(
        _ text: UnsafeRawBufferPointer, _ range: Range<Int>, _ place: (UnsafeRawBufferPointer) -> RedactionPlace
    ) -> [Finding] {
        guard self.rules.contains(where: { $0.pattern != nil }) else { return [] }
        var findings: [Finding] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let end = ByteScan.index(of: UInt8(ascii: "&"), in: UnsafeRawBufferPointer(rebasing: text[..<range.upperBound]), from: start)
            let equals = ByteScan.index(of: UInt8(ascii: "="), in: UnsafeRawBufferPointer(rebasing: text[..<end]), from: start)
            let name = UnsafeRawBufferPointer(rebasing: text[start..<equals])
            let value = min(equals + 1, end)..<end
            findings += self.findings(
                at: place(name), in: UnsafeRawBufferPointer(rebasing: text[value]), from: value.lowerBound, spelling: .query)
            start = end + 1
        }
        return findings
    }
}

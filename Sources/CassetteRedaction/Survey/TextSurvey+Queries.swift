internal import CassetteModel
internal import TapeBytes

// Items of queries and forms.
extension TextSurvey {
    /// Handles `?name=value` and `&name=value`, and in free texts also `name="value"` and `name=value`.
    mutating func item(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        // `/page;jsessionid=value?…` in Java servers.
        let isInPath = start > 0 && self.bytes[start - 1] == UInt8(ascii: ";") && meaning.kind == "session" && !meaning.needsKeyShape
        guard start > 0 ? isInPath || self.text.mayPrecedeItem(start - 1, inForm: self.isForm, inURL: self.isURL) : self.isForm else {
            if self.isFree { self.assignment(start, end, meaning) }
            return
        }
        guard meaning.syntax == .value || meaning.syntax == .credentials, start >= self.valueEnd else { return }
        if meaning.syntax == .credentials, self.credentials(end + 1, meaning) { return }
        var last = end + 1
        let most = min(self.bytes.count, last + NamedValue.limit)
        let followsSemicolon = start > 0 && self.bytes[start - 1] == UInt8(ascii: ";")
        let endsAtSemicolon = (self.isForm || self.isURL) && (followsSemicolon || self.isForm && start == 0 && self.hasSemicolons)
        // As in `/page;name=value/next?…`.
        let endsAtSlash = self.isURL && followsSemicolon && !self.bytes[..<start].contains(UInt8(ascii: "?"))
        while last < most, !self.text.endsItem(self.bytes[last]), !isInPath && !endsAtSlash || self.bytes[last] != UInt8(ascii: "?"),
            !endsAtSlash || self.bytes[last] != UInt8(ascii: "/"),
            !endsAtSemicolon || self.bytes[last] != UInt8(ascii: ";")
        { last += 1 }
        self.valueEnd = last
        guard last < most || last == self.bytes.count else { return }
        if meaning.needsCompany, !self.hasCompany(start, last) { return }
        self.add(end + 1..<last, meaning, self.isForm ? .form : .query)
    }

    /// Handles the value of an item whose name is in brackets.
    mutating func itemValue(_ start: Int, _ meaning: SecretNames.Meaning) {
        guard start >= self.valueEnd else { return }
        var end = start
        let most = min(self.bytes.count, start + NamedValue.limit)
        while end < most, !self.text.endsItem(self.bytes[end]) { end += 1 }
        self.valueEnd = end
        if end < most || end == self.bytes.count { self.add(start..<end, meaning, self.isForm ? .form : .query) }
    }

    /// Whether the form's items are separated by semicolons.
    var hasSemicolons: Bool { QuerySurvey.separator(self.bytes) == UInt8(ascii: ";") }

    /// Whether the same query has another parameter of OAuth.
    mutating func hasCompany(_ start: Int, _ end: Int) -> Bool {
        func isInside(_ byte: UInt8) -> Bool { !self.text.endsItem(byte) || byte == UInt8(ascii: "&") }
        if !self.query.contains(start) {
            // Bytes that belonged to the previous query are not part of this one.
            let least = min(self.query.upperBound, start)
            var (lower, upper) = (start, end)
            while lower > least, isInside(self.bytes[lower - 1]) { lower -= 1 }
            while upper < self.bytes.count, isInside(self.bytes[upper]) { upper += 1 }
            self.query = lower..<upper
        }
        let lower = max(self.query.lowerBound, start - OAuthCompany.reach)
        return self.companyInQueries.isIn(lower..<min(self.query.upperBound, end + OAuthCompany.reach), of: self.bytes)
    }
}

internal import TapeBytes

/// Says which boundary a body uses that has no delimiter of the one it should have.
enum BoundaryGuess {
    /// - Parameters:
    ///   - head: the body's first octets.
    ///   - named: the boundary of the Content-Type; nil where that names none.
    static func problem(_ head: [UInt8], named: MultipartBoundary?) -> MultipartProblem? {
        if let (found, offset) = self.firstBoundary(head) {
            let shown = PlainText.escape(found.octets, limit: 80)
            let other =
                named.map { "but \"Content-Type\" says \"\(PlainText.escape($0.octets, limit: 80))\"" }
                ?? "but \"Content-Type\" does not say so"
            return MultipartProblem(
                .boundaryWrong, offset: offset, "the body uses the boundary \"\(shown)\", \(other); write \"boundary=\(shown)\" there",
                proposal: found)
        }
        guard let named else { return nil }
        let shown = PlainText.escape(named.octets, limit: 80)
        let what = head.isEmpty ? "the body is empty" : "the body has no line \"--\(shown)\""
        return MultipartProblem(
            .noDelimiter, offset: 0, "\(what); write that line in front of each part and \"--\(shown)--\" behind the last")
    }

    /// What stands behind the two hyphens of the first line that begins with them.
    private static func firstBoundary(_ head: [UInt8]) -> (MultipartBoundary, offset: Int)? {
        var start = 0
        while start < head.count {
            let end = head[start...].firstIndex(of: 10) ?? head.count
            defer { start = end + 1 }
            guard head[start..<end].starts(with: [45, 45]), end < head.count else { continue }
            var line = head[(start + 2)..<end]
            while let last = line.last, last == 13 || last == 32 || last == 9 { line.removeLast() }
            if let found = MultipartBoundary(line) { return (found, start) }
        }
        return nil
    }
}

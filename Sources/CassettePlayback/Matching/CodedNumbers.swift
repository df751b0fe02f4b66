internal import CassetteRedaction
internal import TapeBytes

/// Finds numbers that replace secret numbers (`NumberPlaceholder`) in base64 or hex within a text, as a replayed client writes them into
/// credentials. The recorded text has a placeholder with the same number there.
///
/// A run begins in the group or byte in which its first number begins, as a run of `CodedRunScan` does with its placeholder.
enum CodedNumbers {
    private struct Anchor {
        /// The characters that encode the first five digits of every such number and nothing else.
        let text: StaticString
        let form: CodedRun.Form
        /// Characters of the run before the anchor that belong to the group in which the number begins.
        var lead = 0
        /// Bytes of the group's content before the number.
        var alignment = 0
    }

    private static let anchors = [
        Anchor(text: "MjAwMj", form: .base64), Anchor(text: "IwMDI5", form: .base64, lead: 2, alignment: 1),
        Anchor(text: "yMDAyO", form: .base64, lead: 3, alignment: 2), Anchor(text: "3230303239", form: .hex),
    ]
    /// How many anchors of each kind are examined in one text.
    private static let limit = 1024
    /// How many bytes are decoded to check whether an anchor begins a number.
    private static let trialLimit = 16

    /// The runs, in ascending order.
    static func runs(in bytes: UnsafeRawBufferPointer) -> [CodedRun] {
        var found: [(offset: Int, anchor: Anchor)] = []
        for anchor in self.anchors where ByteSearch.contains(anchor.text, in: bytes) {
            var offset = 0
            var count = 0
            while count < self.limit {
                offset = ByteScan.index(of: anchor.text.utf8Start[0], in: bytes, from: offset)
                guard offset < bytes.count else { break }
                if bytes.has(anchor.text, at: offset) {
                    found.append((offset, anchor))
                    count += 1
                }
                offset += 1
            }
        }
        found.sort { $0.offset < $1.offset }
        var runs: [CodedRun] = []
        for (offset, anchor) in found {
            if let run = self.run(anchor, at: offset, in: bytes, from: runs.last?.range.upperBound ?? 0) { runs.append(run) }
        }
        return runs
    }

    private static func run(_ anchor: Anchor, at offset: Int, in bytes: UnsafeRawBufferPointer, from least: Int) -> CodedRun? {
        var start = offset
        for _ in 0..<anchor.lead {
            guard let before = CodedCharacter.start(before: start, in: bytes) else { return nil }
            start = before
        }
        guard start >= least, let trial = CodedRun(anchor.form, in: bytes, at: start, limit: self.trialLimit) else { return nil }
        let isNumber = trial.content.withUnsafeBytes { NumberPlaceholder.first(in: $0, from: 0)?.range.lowerBound == anchor.alignment }
        return isNumber ? CodedRun(anchor.form, in: bytes, at: start) : nil
    }
}

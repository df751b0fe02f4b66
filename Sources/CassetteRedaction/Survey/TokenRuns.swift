internal import CAnchorScan

/// The runs of a text of at least 16 letters, digits and `+/-_`: base64, hex, tokens and long names.
enum TokenRuns {
    /// How many runs are requested at once.
    private static let batch = 64

    /// Delivers the runs in ascending order until `deliver` returns false.
    static func forEach(in text: UnsafeRawBufferPointer, deliver: (Range<Int>) -> Bool) {
        guard let base = text.baseAddress else { return }
        withUnsafeTemporaryAllocation(of: TextRun.self, capacity: Self.batch) { runs in
            var from = 0
            while from < text.count {
                let found = run_scan(base, text.count, &from, runs.baseAddress, Self.batch)
                for run in runs[..<found] where !deliver(run.start..<run.end) { return }
            }
        }
    }
}

/// The problems found on all levels of one body, up to a limit.
///
/// A class, since the levels share it.
final class LintReport {
    private let limit: Int
    private var problems: [MultipartProblem] = []
    private var others = 0
    private var once: Set<MultipartProblem.Kind> = []

    init(limit: Int) {
        self.limit = limit
    }

    func add(_ problem: MultipartProblem) {
        if self.problems.count < self.limit { self.problems.append(problem) } else { self.others += 1 }
    }

    /// For what is the same all over a body: the first is enough.
    func addOnce(_ problem: MultipartProblem) {
        if self.once.insert(problem.kind).inserted { self.add(problem) }
    }

    /// In the order of the body.
    var all: [MultipartProblem] {
        let sorted = self.problems.sorted { ($0.offset ?? -1) < ($1.offset ?? -1) }
        guard self.others > 0 else { return sorted }
        return sorted + [MultipartProblem(.more, offset: nil, "\(self.others) more problems are not listed; mend these first")]
    }
}

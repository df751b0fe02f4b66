/// What keeps a test from running, in words for the person who runs it.
struct TestProblem: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

/// One reader of strangers' bytes and what must hold of it, whatever the bytes are.
///
/// A trap, a sanitizer's report or an expectation that does not hold is a finding.
protocol FuzzTarget {
    static func run(_ input: UnsafeRawBufferPointer)
}

extension FuzzTarget {
    /// Ends the program where something does not hold. A `precondition` of an optimized build would not say what.
    static func expect(_ holds: Bool, _ otherwise: @autoclosure () -> String) {
        if !holds { fatalError(otherwise()) }
    }
}

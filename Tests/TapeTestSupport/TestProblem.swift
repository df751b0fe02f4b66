/// Why a test could not be carried out as written.
package struct TestProblem: Error, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }
}

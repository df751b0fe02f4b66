import TapeTestSupport

/// A program of one Swift file next to these tests, built on demand.
enum SwiftFixture {
    static let isBuildable = Programs.isInstalled("swiftc")

    /// - Returns: the program's path in the folder.
    static func build(_ name: String, into folder: TemporaryFolder) throws -> String {
        let program = folder.file(name)
        let compiler = try ExternalProgram.run(
            try Programs.find("swiftc"), ["-parse-as-library", Programs.fixture("\(name).swift"), "-o", program], seconds: 300)
        guard compiler.status == 0 else { throw TestProblem("\"\(name)\" cannot be built: \(compiler.errors)") }
        return program
    }
}

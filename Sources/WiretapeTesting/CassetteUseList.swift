internal import Foundation
internal import Platform
internal import TapeBytes

/// The file in which a run of the tests lists the cassettes it uses: a JSON object with "cassette" and "test" in each line.
///
/// Shows which files no test uses any more.
enum CassetteUseList {
    /// The variable that names the file.
    static let variable = "WIRETAPE_USED_CASSETTES"

    private struct Line: Encodable {
        var cassette: String
        var test: String?
    }

    /// Tests of one process take turns; those of others add lines of their own at the end.
    private static let turn = Guarded(())

    static func add(_ cassette: String, of test: TestIdentity?, to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line = try encoder.encode(Line(cassette: cassette, test: test?.description)) + Data("\n".utf8)
        try self.turn.withLock { _ in
            let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
            guard file >= 0 else {
                throw CassetteTestError(
                    .noFolder,
                    "\(self.variable) names \"\(path)\", which cannot be written: name a file in a folder that exists, or unset it")
            }
            try FileHandle(fileDescriptor: file, closeOnDealloc: true).write(contentsOf: line)
        }
    }
}

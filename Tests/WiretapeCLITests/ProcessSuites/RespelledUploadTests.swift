import Foundation
import Testing
import TapeTestSupport

/// A recording of one client is replayed to another with a different spelling: boundaries, order, escapes, chunks, codings, charsets.
@Suite struct RespelledUploadTests {
    private static let expected = ["/parts", "/json?b=%7e&a=1", "/form", "/put", "/coded", "/text"].map { "took \($0)\n" }.joined()

    @Test(arguments: ["python3", "sh", "node"])
    func anotherClientGetsTheSameAnswers(client: String) throws {
        let folder = try TemporaryFolder()
        let (origin, port) = try Python.origin("upload_origin.py")
        let url = "http://127.0.0.1:\(port)"
        let path = folder.file("t.json")
        let recording = try Wiretape.run(["record", path, "--", "python3", Programs.fixture("uploads.py"), url])
        origin.stop()
        #expect(recording.status == 0 && recording.outputText == Self.expected, "\(recording.errors)")
        let script = ["python3": "uploads.py", "sh": "uploads.sh", "node": "uploads.js"][client] ?? ""
        let replay = try Wiretape.run(
            ["replay", path, "--fail-on", "miss,unused,order", "--", client, Programs.fixture(script), url, folder.path])
        #expect(replay.status == 0 && replay.outputText == Self.expected, "\(replay.errors)\(replay.outputText)")
    }
}

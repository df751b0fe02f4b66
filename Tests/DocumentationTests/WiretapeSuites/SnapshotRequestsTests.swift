import Foundation
import Testing
import Wiretape

@Suite struct SnapshotRequestsTests {
    private struct NewPet: Encodable {
        var name: String
        var tags: [String] = []
    }

    @Test func requestAsText() async throws {
        // snippet: snapshot
        let stub = StubTransport { _ in .json(#"{"id": 3, "name": "초코"}"#) }
        let session = HTTPSession(transport: stub)
        _ = try await session.post(
            "https://example.test/pets", json: NewPet(name: "초코"), as: Pet.self)

        let sent = HTTPSession.RequestSnapshot(try #require(stub.requests.last))
        #expect(
            sent.description == """
                POST https://example.test/pets
                Content-Type: application/json

                {
                  "name": "초코",
                  "tags": []
                }
                """)
        // snippet end
    }

    @Test func uploadAsText() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).txt")
        try Data(Self.upload.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let stub = StubTransport { _ in .json(Answers.pet) }
        let session = HTTPSession(transport: stub)
        // snippet: snapshot-upload
        var form = FormData()
        try form.append("초코", name: "name")
        try form.append(
            Data([0xff, 0xd8]), withName: "photo", fileName: "a.jpg", mimeType: "image/jpeg")
        _ = try await session.upload(
            multipartFormData: form, to: "https://example.test/pets"
        ).serializingData().value

        let sent = HTTPSession.RequestSnapshot(try #require(stub.requests.last))
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(sent.description == text)
        // snippet end
    }

    private static let upload = """
        POST https://example.test/pets
        Content-Type: multipart/form-data; boundary={{boundary}}

        --{{boundary}}
        Content-Disposition: form-data; name="name"

        초코
        --{{boundary}}
        Content-Disposition: form-data; name="photo"; filename="a.jpg"
        Content-Type: image/jpeg

        <2 bytes, SHA-256 71563ad80061407ede9c6f316836284bd3710a520c5a792b5eda1cb703690815>
        --{{boundary}}--
        """
}

import Foundation
import Testing
import Wiretape

@Suite struct UploadAFormTests {
    private let transport = StubTransport { _ in .json(Answers.pet, status: 201) }
    private var session: HTTPSession { HTTPSession(transport: self.transport) }

    private func sent() throws -> String {
        guard case .data(let data)? = self.transport.requests.last?.body else { throw SnippetProblem("no body") }
        return String(decoding: data, as: UTF8.self)
    }

    @Test func aClosureFillsAForm() async throws {
        let session = self.session
        let picture = Data([0x89, 0x50, 0x4e, 0x47])
        // snippet: upload-form
        let pet = try await session.upload(
            multipartFormData: { form in
                form.append(Data("초코".utf8), withName: "name")
                try form.append(
                    picture, withName: "photo", fileName: "choco.png", mimeType: "image/png")
            }, to: "https://example.test/pets"
        )
        .validate()
        .serializingDecodable(Pet.self)
        .value
        // snippet end
        #expect(pet.id == 3)
        #expect(try self.sent().contains("name=\"photo\"; filename=\"choco.png\"\r\nContent-Type: image/png\r\n\r\n"))
        #expect(self.transport.requests.last?.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
    }

    @Test func anEncodableBecomesFields() async throws {
        let session = self.session
        // snippet: upload-fields
        struct NewPet: Encodable, Sendable {
            var name: String
            var tags: [String]
            var owner: [String: String]
        }
        var form = FormData(boundary: .seeded(1))
        let pet = NewPet(name: "초코", tags: ["small"], owner: ["city": "서울"])
        try form.append(fieldsOf: pet)
        let upload = session.upload(
            multipartFormData: form, to: "https://example.test/pets")
        // snippet end
        _ = try await upload.serializingData().value
        #expect(form.parts.count == 3)
        for name in ["\"name\"", "\"tags[]\"", "\"owner[city]\""] { #expect(try self.sent().contains("name=\(name)")) }
    }

    @Test func aFileIsAPart() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("album.jpg")
        try Data("JPEG".utf8).write(to: file)
        let session = self.session
        // snippet: upload-file
        let asPart = session.upload(
            multipartFormData: { try $0.append(file, withName: "album") },
            to: "https://example.test/albums")
        let asBody = session.upload(
            file, to: "https://example.test/albums/1", method: .put,
            headers: [.contentType("image/jpeg")])
        // snippet end
        _ = try await asPart.serializingData().value
        #expect(try self.sent().contains("filename=\"album.jpg\"\r\nContent-Type: image/jpeg\r\n\r\nJPEG\r\n"))
        _ = try await asBody.serializingData().value
        #expect(self.transport.requests.last?.body.size == 4)
    }

    @Test func aStreamIsSpooled() async throws {
        let session = self.session
        let data = Data("0123456789".utf8)
        // snippet: upload-stream
        let upload = session.upload(
            InputStream(data: data), to: "https://example.test/logs",
            headers: [.contentType("text/plain")])
        // snippet end
        _ = try await upload.serializingData().value
        #expect(self.transport.requests.last?.body.size == 10)
    }

    @Test func progressIsReported() async throws {
        let session = self.session
        let form = FormData()
        let fractions = AsyncStream<Double>.makeStream()
        let show: @Sendable (Double) -> Void = { fractions.continuation.yield($0) }
        // snippet: upload-progress
        let upload = session.upload(
            multipartFormData: form, to: "https://example.test/pets"
        )
        .uploadProgress(queue: .global()) { progress in
            show(progress.fractionCompleted ?? 0)
        }
        // snippet end
        _ = try await upload.serializingData().value
        var iterator = fractions.stream.makeAsyncIterator()
        #expect(await iterator.next() == 1)
    }
}

import Foundation
import Testing
import Wiretape

@Suite struct InspectAnUploadTests {
    @Test func aFormIsLookedAtBeforeItGoes() throws {
        // snippet: inspect-form
        var form = FormData(boundary: .seeded(1))
        try form.append("초코", name: "name")
        try form.append(
            Data("PNG".utf8), withName: "photo", fileName: "choco.png", mimeType: "image/png")

        print(form.contentType)
        print(form.contentLength, "bytes in", form.parts.count, "parts")
        for part in form.parts {
            print(part.headers.lines, part.source.length)
        }
        // snippet end
        #expect(form.parts.map(\.source.length) == [6, 3])
        #expect(form.parts.first?.headers.lines == ["Content-Disposition: form-data; name=\"name\""])
    }

    @Test func theBodyThatWentOutIsRead() async throws {
        let transport = StubTransport { _ in .json(Answers.pet, status: 201) }
        let session = HTTPSession(transport: transport)
        let upload = session.upload(
            multipartFormData: { form in
                try form.append("초코", name: "name")
                form.append(Data("PNG".utf8), withName: "photo", fileName: "choco.png", mimeType: "image/png")
            }, to: "https://example.test/pets")
        _ = try await upload.serializingData().value
        // snippet: inspect-sent
        let request = try #require(transport.requests.last)
        guard case .data(let body) = request.body else { throw CancellationError() }
        let type = try #require(MultipartType(request.headers.headerFields))
        let boundary = try #require(type.boundary)
        let form = try #require(
            body.withUnsafeBytes { MultipartBody.parse($0, boundary: boundary) })

        let names = form.parts.map { ContentDisposition($0.headers.fields)?.name }
        #expect(names == ["name", "photo"])
        if case .data(let range) = form.parts[1].content {
            #expect(body[range] == Data("PNG".utf8))
        }
        // snippet end
        // snippet: inspect-lint
        let problems = body.withUnsafeBytes {
            MultipartLint.problems(headers: request.headers.headerFields, body: $0)
        }
        #expect(problems.isEmpty, "\(problems)")
        // snippet end
    }
}

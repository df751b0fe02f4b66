import Foundation
import Seeds
import Testing
import Wiretape
import WiretapeTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Forms with a new boundary in each run, by each way to send them.
@Suite(.cassettes("uploads", ignoring: [.host, .port])) struct UploadTests {
    private static let photo = Data([0xff, 0xd8, 0xff, 0x00, 0x0d, 0x0a, 0x2d, 0x2d] + [UInt8](repeating: 7, count: 300))

    private static func form(_ spelling: HandMadeForm.Spelling = .standard) -> HandMadeForm {
        var form = HandMadeForm(spelling, fields: [("name", "초코"), ("note", "line one\r\nline two")])
        // Named after the boundary, as in the wild.
        form.files = ["photo", "photo"].enumerated().map {
            .init(name: $1, fileName: "petImage\(form.boundary)-\($0).jpg", type: "image/jpeg", data: self.photo)
        }
        return form
    }

    private static func check(_ receipt: Receipt, _ spelling: HandMadeForm.Spelling = .standard) {
        #expect(receipt.parts.map(\.name) == ["name", "note", "photo", "photo"])
        #expect(receipt.parts.map(\.type) == [nil, nil, "image/jpeg", "image/jpeg"])
        let photo = self.photo.count + (spelling == .twoLineEndsAfterFile ? 2 : 0)
        #expect(receipt.parts.map(\.size) == [6, 18, photo, photo])
    }

    @Test(arguments: HandMadeForm.Spelling.allCases) func inTheRequest(_ spelling: HandMadeForm.Spelling) async throws {
        Self.check(try await PetUploads(Origin.url).inRequest(Self.form(spelling)), spelling)
    }

    @Test(arguments: HandMadeForm.Spelling.allCases) func besideTheRequest(_ spelling: HandMadeForm.Spelling) async throws {
        Self.check(try await PetUploads(Origin.url).besideRequest(Self.form(spelling)), spelling)
    }

    @Test func fromAFile() async throws { Self.check(try await PetUploads(Origin.url).fromFile(Self.form())) }

    @Test func fromAStream() async throws { Self.check(try await PetUploads(Origin.url).fromStream(Self.form())) }

    @Test(arguments: [0, 10_000_000]) func asTheSessionsForm(threshold: Int) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).jpg")
        try Self.photo.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let receipt = try await PetUploads(Origin.url).form(threshold: threshold) { form in
            form.append(Data("초코".utf8), withName: "name")
            try form.append("line one\r\nline two", name: "note")
            try form.append(file, withName: "photo", fileName: "one.jpg", mimeType: "image/jpeg")
            try form.append(
                InputStream(data: Self.photo), withLength: UInt64(Self.photo.count), name: "photo", fileName: "two.jpg",
                mimeType: "image/jpeg")
        }
        Self.check(receipt)
    }

    @Test(.cassette(ignoring: [.part("photo").fileName])) func namesFilesAtRandom() async throws {
        let receipt = try await PetUploads(Origin.url).form { form in
            form.append(Self.photo, withName: "photo", fileName: "\(UUID()).jpg", mimeType: "image/jpeg")
        }
        #expect(receipt.parts.count == 1)
    }

    @Test(.cassette(ignoring: [.part("sent_at")])) func sendsAValueAsFields() async throws {
        struct NewPet: Encodable {
            var name = "초코"
            var tags = ["small", "asleep"]
            var owner = ["city": "서울"]
            var sent_at = Date().timeIntervalSince1970
        }
        let receipt = try await PetUploads(Origin.url).form { try $0.append(fieldsOf: NewPet()) }
        #expect(receipt.parts.map(\.name) == ["name", "owner[city]", "sent_at", "tags[]", "tags[]"])
    }

    @Test func tellsHowFarItIs() async throws {
        let steps = Steps<TransferProgress>()
        let form = Self.photo
        _ = try await PetUploads(Origin.url).form(progress: { steps.add($0) }) { try $0.append(form, withName: "photo") }
        #expect(steps.all.last?.fractionCompleted == 1)
    }

    @Test func refusesANameThatWouldEndTheHeader() async throws {
        let receipt = try await PetUploads(Origin.url).form {
            $0.append(Data("x".utf8), withName: "photo", fileName: "a\"\r\nX-Evil: 1.jpg", mimeType: "image/jpeg")
        }
        #expect(receipt.parts.map(\.filename) == ["a%22%0D%0AX-Evil: 1.jpg"])
    }
}

/// The same through a `URLSession` of the app's own.
@Suite(.cassettes("plain", ignoring: [.host, .port])) struct PlainUploadTests {
    private static func form() -> HandMadeForm {
        HandMadeForm(fields: [("name", "초코")], files: [.init(name: "photo", fileName: "a.jpg", type: "image/jpeg", data: Data([1, 2, 3]))])
    }

    private static func uploader() throws -> PlainUploader {
        let cassette = try #require(Cassette.current)
        return PlainUploader(try Origin.url, configuration: .recording(cassette))
    }

    @Test func dataTask() async throws {
        let receipt = try await withCheckedThrowingContinuation { continuation in
            do { try Self.uploader().dataTask(Self.form()) { continuation.resume(with: $0) } } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(receipt.parts.map(\.size) == [6, 3])
    }

    @Test func uploadTask() async throws {
        let receipt = try await withCheckedThrowingContinuation { continuation in
            do { try Self.uploader().uploadTask(Self.form()) { continuation.resume(with: $0) } } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(receipt.parts.map(\.size) == [6, 3])
    }

    @Test func uploadTaskOfAFile() async throws {
        let form = Self.form()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).multipart")
        try form.body.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let receipt = try await withCheckedThrowingContinuation { continuation in
            do {
                try Self.uploader().uploadTask(file: file, as: form) { continuation.resume(with: $0) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(receipt.parts.map(\.size) == [6, 3])
    }

    @Test func delegate() async throws {
        let form = Self.form()
        let result = try await Self.uploader().delegated(form)
        #expect(result.receipt.parts.map(\.size) == [6, 3])
        #expect(result.sent == Int64(form.body.count))
    }
}

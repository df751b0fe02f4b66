import Foundation
import Wiretape

/// The shop's client, as an app has one: every answer is checked and typed.
///
/// Knows nothing of cassettes: a test puts one under it, and `HTTPSession` takes it from there.
public final class PetShop: Sendable {
    private let url: String
    private let session: HTTPSession

    /// - Parameters:
    ///   - url: without a slash at its end.
    ///   - session: carries all requests.
    public init(url: String, session: HTTPSession = HTTPSession()) {
        self.url = url
        self.session = session
    }

    // MARK: Pets

    public func pets() async throws -> [Pet] {
        struct Shelf: Codable, Sendable { var pets: [Pet] }
        return try await self.session.request("\(self.url)/pets").validate().serializingDecodable(Shelf.self).value.pets
    }

    public func pet(_ id: Int) async throws -> Pet {
        try await self.session.request("\(self.url)/pets/\(id)").validate().serializingDecodable(Pet.self).value
    }

    public func add(_ pet: NewPet) async throws -> Pet {
        try await self.session.request("\(self.url)/pets", method: .post, parameters: pet, encoder: .json)
            .validate().serializingDecodable(Pet.self).value
    }

    public func replace(_ id: Int, by pet: NewPet) async throws -> Pet {
        try await self.session.request("\(self.url)/pets/\(id)", method: .put, parameters: pet, encoder: .json)
            .validate().serializingDecodable(Pet.self).value
    }

    public func remove(_ id: Int) async throws {
        _ = try await self.session.request("\(self.url)/pets/\(id)", method: .delete).validate().serializingDecodable(
            HTTPSession.Empty.self
        ).value
    }

    // MARK: Upload, download

    /// Sends a pet with its pictures.
    ///
    /// - Parameter progress: told how much of the form has gone out, from 0 to 1.
    public func upload(_ pet: PetUpload, progress: @escaping @Sendable (Double) -> Void = { _ in }) async throws -> PetUpload.Receipt {
        let upload = self.session.upload(
            multipartFormData: { form in
                form.append(Data(pet.name.utf8), withName: "name")
                form.append(Data(pet.note.utf8), withName: "note")
                for picture in pet.pictures {
                    form.append(picture.png, withName: "photo", fileName: picture.fileName, mimeType: "image/png")
                }
            }, to: "\(self.url)/pets"
        ).validate()
        let steps = upload.uploadProgress()
        async let watching: Void = { for await step in steps { progress(step.fractionCompleted ?? 0) } }()
        let receipt = try await upload.serializingDecodable(PetUpload.Receipt.self).value
        await watching
        return receipt
    }

    /// The album, in a folder and under the name that the shop gives it. One of before makes way.
    public func album(in folder: URL) async throws -> URL {
        let destination = HTTPSession.DownloadRequest.suggestedDownloadDestination(
            in: folder, options: [.createIntermediateDirectories, .removePreviousFile])
        return try await self.session.download("\(self.url)/album", to: destination).validate().serializingDownloadedFileURL().value
    }

    // MARK: Members

    /// Logs in and says who that is. The token that a login gives is refreshed when the shop refuses it.
    public func logIn(as email: String, password: String) async throws -> Member {
        let token = try await self.session.request(
            "\(self.url)/login", method: .post, parameters: ["name": email, "password": password], encoder: .json
        ).validate().serializingDecodable(ShopToken.self).value
        let authentication = HTTPSession.AuthenticationInterceptor(
            authenticator: ShopAuthenticator(url: self.url, session: self.session), credential: token)
        return try await self.session.request("\(self.url)/me", interceptor: authentication).validate().serializingDecodable(Member.self)
            .value
    }

    // MARK: Events

    /// What happens in the shop, until it closes.
    public func events() -> AsyncThrowingStream<ShopEvent, any Error> {
        let events = self.session.stream("\(self.url)/events").validate().events
        return AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    for try await event in events {
                        if let known = try ShopEvent(event) { continuation.yield(known) }
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

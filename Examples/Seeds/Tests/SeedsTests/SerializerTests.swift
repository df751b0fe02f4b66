import Foundation
import Seeds
import Testing
import Wiretape
import WiretapeTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.cassettes("serializers", ignoring: [.host, .port])) struct SerializerTests {
    private func request(_ path: String) throws -> HTTPSession.DataRequest {
        HTTPSession().request(try Origin.url.appendingPathComponent(path)).validate()
    }

    @Test func data() async throws { #expect(try await self.request("pets.csv").serializingData().value.count == 16) }

    @Test func textInTheCharsetOfTheResponse() async throws {
        #expect(try await self.request("pets.latin").serializingString().value == "Zoë")
    }

    @Test func json() async throws {
        let pets = try await self.request("pets").serializingJSON().value
        #expect((pets.foundationObject as? [[String: Any]])?.first?["name"] as? String == "Miso")
    }

    @Test func propertyList() async throws {
        let pets = try await self.request("pets.plist").serializingPropertyList().value
        #expect((pets.foundationObject as? [[String: Any]])?.last?["name"] as? String == "보리")
    }

    @Test func guardedJSON() async throws {
        let pets = try await self.request("pets.guarded").serializingDecodable([Pet].self, dataPreprocessor: .googleXSSI).value
        #expect(pets.count == 2)
    }

    @Test func emptyResponse() async throws { _ = try await self.request("nothing").serializingDecodable(HTTPSession.Empty.self).value }

    @Test func ownSerializer() async throws {
        struct Lines: HTTPSession.ResponseSerializer {
            func serialize(request: URLRequest?, response: HTTPSession.Response?, data: Data?, error: (any Error)?) throws -> [String] {
                if let error { throw error }
                return String(decoding: data ?? Data(), as: UTF8.self).split(separator: "\n").map(String.init)
            }
        }
        #expect(try await self.request("pets.csv").serializing(Lines()).value == ["1,Miso", "2,보리"])
    }

    @Test func whatCannotBeDecodedIsAnError() async throws {
        let response = await (try self.request("pets.csv")).serializingDecodable([Pet].self).response
        #expect(response.error?.code == .serialization)
        #expect(response.data?.count == 16)
    }

    @Test func whatIsNotThereIsAnError() async throws {
        let response = await (try self.request("no-such-page")).serializingData().response
        #expect(response.error?.code == .validation)
        #expect((response.error?.cause as? ValidationError)?.status == 404)
    }

    @Test func redirectIsFollowedOrNot() async throws {
        let followed = await (try self.request("old")).serializingDecodable([Pet].self).response
        #expect(followed.value?.count == 2 && followed.redirects.map(\.response.status) == [302])
        let kept = await HTTPSession().request(try Origin.url.appendingPathComponent("old")).redirect(using: .doNotFollow)
            .serializingData(emptyResponseCodes: [302]).response
        #expect(kept.response?.status == 302)
    }
}

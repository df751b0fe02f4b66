import Foundation
import TapeTestSupport
import Testing
import Wiretape

@Suite struct RecordATestTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func record(_ settings: Cassette.Settings = Cassette.Settings()) async throws -> String {
        let file = self.folder.file("pets.json")
        let server = StubTransport { $0.method == "GET" ? .json(Answers.pets) : .json(Answers.pet, status: 201) }
        // snippet: record-around
        let cassette = try Cassette(file, mode: .all, settings: settings)
        let session = HTTPSession(transport: RecordingTransport(cassette, around: server))
        _ = try await PetShop(session: session).pets()
        await session.waitUntilIdle()
        try cassette.close()
        // snippet end
        return file
    }

    @Test func aSessionReplaysACassette() async throws {
        let file = try await self.record()
        // snippet: record-open
        let cassette = try Cassette(file, mode: .once)
        let session = HTTPSession(cassette: cassette)
        let pets = try await PetShop(session: session).pets()

        await session.waitUntilIdle()
        try cassette.close()
        // snippet end
        #expect(pets.count == 2)
    }

    @Test func aTaskHasACassette() async throws {
        let file = try await self.record()
        // snippet: record-current
        let cassette = try Cassette(file)
        let pets = try await Cassette.$current.withValue(cassette) {
            try await PetShop().pets()
        }
        // snippet end
        #expect(pets.count == 2)
    }

    @Test func aQueueHasACassetteThatIsCarriedThere() async throws {
        let file = try await self.record()
        let cassette = try Cassette(file)
        let session = HTTPSession()
        let queue = DispatchQueue(label: "work")
        let count = await Cassette.$current.withValue(cassette) {
            await withCheckedContinuation { continuation in
                // snippet: record-escaped
                withEscapedCassette { cassette in
                    queue.async {
                        cassette.yield {
                            session.request("https://example.test/pets").responseDecodable(of: [Pet].self, queue: queue) { response in
                                continuation.resume(returning: response.value?.count)
                            }
                        }
                    }
                }
                // snippet end
            }
        }
        #expect(count == 2)
    }

    @Test func settingsSayWhatIsCompared() async throws {
        // snippet: record-settings
        var settings = Cassette.Settings()
        settings.ignore = ["query:ts", "json:/sent_at"]
        settings.patterns = ["json:/id=[0-9]+"]
        settings.redact = ["json:/user/email", "header:x-device"]
        settings.secrets = ["shop_key": "correct horse battery staple"]
        settings.repetition = .last
        // snippet end
        let file = try await self.record(settings)
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("\"query:ts\""))
    }

    @Test func closuresCompareToo() async throws {
        let file = try await self.record()
        // snippet: record-custom
        var settings = Cassette.Settings()
        settings.customMatches = [
            CustomMatch("tenant") { recorded, live in
                let old = recorded.headers.first("x-tenant") ?? "none"
                let new = live.headers.first("x-tenant") ?? "none"
                return old == new ? nil : "the tenant is \(new), recorded is \(old)"
            }
        ]
        // snippet end
        let session = HTTPSession(cassette: try Cassette(file, settings: settings))
        let headers: HTTPSession.Headers = ["X-Tenant": "a"]
        let error = await session.request("https://example.test/pets", headers: headers).serializingData().response.error
        #expect(error?.code == .noMatch)
    }

    @Test func aMissSaysWhatCameNearest() async throws {
        let file = try await self.record()
        // snippet: record-miss
        let session = HTTPSession(cassette: try Cassette(file))
        let response = await session.request("https://example.test/pets?page=2")
            .serializingData()
            .response
        #expect(response.error?.code == .noMatch)
        print(response.error?.message ?? "")
        // snippet end
        #expect(response.error?.message.contains("https://example.test/pets") == true)
        #expect(response.error?.missReport?.nearest.count == 1)
    }

    @Test func aReportSaysWhatWasAsked() async throws {
        let file = try await self.record()
        // snippet: record-report
        let cassette = try Cassette(file)
        let session = HTTPSession(cassette: cassette)
        let response = await session.request("https://example.test/pets")
            .serializingData()
            .response
        #expect(response.source == .replayed(cassette: file, id: 1))

        let outcome = try cassette.close()
        #expect(outcome.failures.isEmpty, "\(outcome.failures.joined(separator: "\n"))")
        #expect(outcome.report.verdict.unused.isEmpty)
        // snippet end
    }
}

@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteStore
@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct ConnectionLoginTests {
    /// The last message of an NTLM login ([MS-NLMP], 2.2.1.3), as a client sends it.
    private static func login(_ user: String, proof: UInt8) -> String {
        let name: [UInt8] = user.utf8.flatMap { [$0, 0] }
        var message: [UInt8] = Array("NTLMSSP\0".utf8) + [3, 0, 0, 0]
        var offset: UInt8 = 64
        let answer = [UInt8](repeating: proof, count: 24)
        let fields: [[UInt8]] = [[], answer, [], name, [], []]
        for field in fields {
            message += [UInt8(field.count), 0, UInt8(field.count), 0, offset, 0, 0, 0]
            offset += UInt8(field.count)
        }
        message += [1, 2, 8, 0] + answer + name
        var text: [UInt8] = []
        message.withUnsafeBytes { Base64.encode($0, into: &text) }
        return "Authorization: NTLM " + String(decoding: text, as: UTF8.self)
    }

    private static let first = "Authorization: NTLM TlRMTVNTUAABAAAAAQIIAAAAAAAAAAAAAAAAAAAAAAA="

    private struct Exchange {
        var connection: Int?
        var fields: [String] = []
        var answer: String
        var status = 200
    }

    private func session(_ exchanges: [Exchange]) throws -> (session: CassetteSession, folder: TemporaryFolder) {
        var seen: Set<Int> = []
        let interactions = exchanges.enumerated().map { index, exchange in
            let connection = exchange.connection.map {
                ", \"connection\": { \"id\": \($0), \"remote\": \"127.0.0.1:1\", \"reused\": \(!seen.insert($0).inserted) }"
            }
            return """
                { "id": \(index + 1), "started": "2026-11-21T04:19:00.00000\(index)Z",
                  "request": { "method": "GET", "url": "http://a.test/me", "headers": [\(exchange.fields.map { "\"\($0)\"" }.joined(separator: ", "))] },
                  "response": { "status": \(exchange.status), "headers": [], "body": { "size": \(exchange.answer.utf8.count), "text": "\(exchange.answer)" } }\(connection ?? "") }
                """
        }
        let folder = try TemporaryFolder()
        let text = "{\"wiretape\": 1, \"interactions\": [\n" + interactions.joined(separator: ",\n") + "\n]}\n"
        let cassette = try RecordedCassette(path: folder.write(Array(text.utf8), to: "a.json"))
        return (try CassetteSession(mode: .none, cassette: cassette), folder)
    }

    /// Two users whose logins overlap: neither their first requests nor their later ones have anything that tells them apart.
    private func twoUsers() throws -> (session: CassetteSession, folder: TemporaryFolder) {
        try self.session([
            Exchange(connection: 1, answer: "log in", status: 401),
            Exchange(connection: 1, fields: ["Authorization: NTLM {{authorization:1}}"], answer: "challenge", status: 401),
            Exchange(connection: 1, fields: [Self.login("alice", proof: 1)], answer: "alice 1"),
            Exchange(connection: 1, answer: "alice 2"),
            Exchange(connection: 2, answer: "log in", status: 401),
            Exchange(connection: 2, fields: [Self.first], answer: "challenge", status: 401),
            Exchange(connection: 2, fields: [Self.login("bob", proof: 2)], answer: "bob 1"),
            Exchange(connection: 2, answer: "bob 2"),
        ])
    }

    /// A client's connection, with the index of the exchange that answers each of its requests; nil for a miss.
    private struct Client {
        let session: CassetteSession
        var login = ConnectionLogin()

        mutating func get(_ fields: [String] = []) throws -> Int? {
            let headers = HeaderFields(fields)
            self.login.note(headers)
            switch self.session.begin(method: "GET", url: "http://a.test/me", headers: headers, login: self.login) {
            case .decided(let decision): return decision.replayed
            case .needsBody(let pending): return try self.session.resolve(pending, body: pending.body().finish()).replayed
            }
        }
    }

    @Test func usersWhoLogInAtOnceGetTheirOwnAnswers() throws {
        let (session, _) = try self.twoUsers()
        var (alice, bob) = (Client(session: session), Client(session: session))
        #expect(try [bob.get(), alice.get()] == [0, 4])
        #expect(try [bob.get([Self.first]), alice.get([Self.first])] == [1, 5])
        #expect(try bob.get([Self.login("bob", proof: 3)]) == 6)
        #expect(try bob.get() == 7)
        #expect(try alice.get([Self.login("alice", proof: 4)]) == 2)
        #expect(try alice.get() == 3)
        #expect(session.verdict().misses == 0)
    }

    @Test func aClientWithoutALoginGetsNoUsersAnswer() throws {
        let (session, _) = try self.twoUsers()
        var anonymous = Client(session: session)
        #expect(try [anonymous.get(), anonymous.get(), anonymous.get()] == [0, 4, nil])
    }

    @Test func aUserWhoseAnswersAreUsedUpDoesNotGetThoseOfAnother() throws {
        let (session, _) = try self.twoUsers()
        var alice = Client(session: session)
        #expect(try alice.get([Self.login("alice", proof: 5)]) == 2)
        #expect(try [alice.get(), alice.get()] == [3, nil])
    }

    @Test func aUserWhoWasNotRecordedGetsAUsersAnswers() throws {
        let (session, _) = try self.twoUsers()
        var carol = Client(session: session)
        #expect(try [carol.get(), carol.get([Self.first]), carol.get([Self.login("carol", proof: 6)]), carol.get()] == [0, 1, 2, 3])
    }

    @Test func aNewLoginOnAConnectionReplacesTheOldOne() throws {
        let (session, _) = try self.twoUsers()
        var client = Client(session: session)
        #expect(try client.get([Self.login("alice", proof: 1)]) == 2)
        #expect(try client.get([Self.first]) == 1)
        #expect(try client.get([Self.login("bob", proof: 2)]) == 6)
        #expect(try client.get() == 7)
    }

    @Test func aLoginThatDoesNotTellItsUserStillDistinguishesFromNobody() throws {
        let (session, _) = try self.session([
            Exchange(connection: 1, fields: ["Authorization: Negotiate YIIFaw=="], answer: "first"),
            Exchange(connection: 1, answer: "second"),
            Exchange(connection: 2, answer: "log in", status: 401),
        ])
        var (user, nobody) = (Client(session: session), Client(session: session))
        #expect(try nobody.get() == 2)
        #expect(try nobody.get() == nil)
        #expect(try [user.get(["authorization: negotiate YIIFbb=="]), user.get()] == [0, 1])
    }

    @Test func anUnknownConnectionFitsEachLogin() throws {
        let (session, _) = try self.twoUsers()
        var client = Client(session: session, login: .unknown)
        #expect(try (0..<8).map { _ in try client.get() }.sorted { ($0 ?? 9) < ($1 ?? 9) } == Array(0..<8))
    }

    @Test func connectionsOfAnotherRecordingInTheSameFileAreApart() throws {
        let folder = try TemporaryFolder()
        func interaction(_ id: Int, _ fields: String, isReused: Bool) -> String {
            """
            { "id": \(id), "started": "2026-11-21T04:19:00.00000\(id)Z",
              "request": { "method": "GET", "url": "http://a.test/me", "headers": [\(fields)] },
              "response": { "status": 200, "headers": [] },
              "connection": { "id": 1, "remote": "127.0.0.1:1", "reused": \(isReused) } }
            """
        }
        let lines = [
            interaction(1, "\"\(Self.login("alice", proof: 1))\"", isReused: false), interaction(2, "", isReused: true),
            interaction(3, "", isReused: false), interaction(4, "", isReused: true),
        ]
        let text = "{\"wiretape\": 1, \"interactions\": [\n" + lines.joined(separator: ",\n") + "\n]}\n"
        let cassette = try RecordedCassette(path: folder.write(Array(text.utf8), to: "a.json"))
        let logins = (0..<4).map { cassette.login(at: $0)?.marks.count }
        #expect(logins == [2, 2, 1, 1])
    }

    @Test func aCassetteWithoutLoginsHasNone() throws {
        let (session, _) = try self.session([
            Exchange(connection: 1, fields: ["Authorization: Bearer x"], answer: "a"), Exchange(connection: 1, answer: "b"),
        ])
        #expect(!session.comparesLogins)
    }
}

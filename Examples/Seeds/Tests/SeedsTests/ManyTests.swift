import Foundation
import Seeds
import Testing
import Wiretape
import WiretapeTesting

@Suite(.cassettes("many", ignoring: [.host, .port])) struct ManyTests {
    /// Fifty tests at once, each with a cassette of its own.
    @Test(arguments: 1...50) func oneOfMany(_ id: Int) async throws {
        let pet = try await HTTPSession().get(Origin.url.appendingPathComponent("pet/\(id)"), as: Pet.self)
        #expect(pet == Pet(id: id, name: "pet \(id)"))
    }

    /// Fifty requests at once, with one.
    @Test func manyInOne() async throws {
        let session = HTTPSession()
        let url = try Origin.url
        let pets = try await withThrowingTaskGroup(of: Pet.self) { group in
            for id in 1...50 { group.addTask { try await session.get(url.appendingPathComponent("pet/\(id)"), as: Pet.self) } }
            return try await group.reduce(into: [Pet]()) { $0.append($1) }
        }
        #expect(Set(pets.map(\.id)) == Set(1...50))
    }
}

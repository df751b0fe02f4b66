import Foundation
import PetShop
import Testing
import WiretapeTesting

/// Each test has a cassette of its own in `Cassettes/shop`, and asks nobody else.
@Suite(.cassettes("shop")) struct PetShopTests {
    private let shop = PetShop(url: Origin.url)

    @Test func listsPets() async throws {
        let pets = try await self.shop.pets()
        #expect(pets.map(\.name) == ["Miso", "보리", "Zoë \"Zip\" 🦎"])
        #expect(pets.map(\.weight) == [4.2, 11.5, nil])
    }

    @Test func addsReplacesAndRemovesAPet() async throws {
        let pet = try await self.shop.add(NewPet(name: "초코", kind: "cat", weight: 3.5))
        #expect(pet == Pet(id: 4, name: "초코", kind: "cat", weight: 3.5))
        #expect(try await self.shop.replace(2, by: NewPet(name: "보리보리", kind: "dog")).name == "보리보리")
        try await self.shop.remove(2)
    }

    @Test func unknownPetIsAnError() async throws {
        await #expect(throws: (any Error).self) { try await self.shop.pet(9) }
    }

    @Test func uploadsAPetWithTwoPictures() async throws {
        let steps = Steps()
        let pet = PetUpload(
            name: "초코", note: "겁이 많아요.\n“Choco” for short",
            pictures: [.init(fileName: "초코 얼굴.png", png: Pictures.face), .init(fileName: "bowl.png", png: Pictures.bowl)])
        let receipt = try await self.shop.upload(pet) { steps.add($0) }
        #expect(receipt.parts.map(\.name) == ["name", "note", "photo", "photo"])
        #expect(receipt.parts.map(\.filename) == [nil, nil, "초코 얼굴.png", "bowl.png"])
        #expect(receipt.parts.map(\.size) == [6, pet.note.utf8.count, Pictures.face.count, Pictures.bowl.count])
        #expect(receipt.parts.prefix(2).map(\.text) == ["초코", pet.note])
        #expect(steps.all.last == 1)
    }

    @Test func logsInWithATokenThatHasToBeRefreshed() async throws {
        let member = try await self.shop.logIn(as: "bori@pets.test", password: "초코-2026")
        #expect(member.name == "보리 집사")
        #expect(member.pets == [2, 3])
    }

    @Test func wrongPasswordIsAnError() async throws {
        await #expect(throws: (any Error).self) { try await self.shop.logIn(as: "bori@pets.test", password: "guess") }
    }

    @Test func downloadsTheAlbumUnderItsName() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("PetShopTests-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = try await self.shop.album(in: folder)
        #expect(["보리.png", "album.png"].contains(file.lastPathComponent))
        let data = try Data(contentsOf: file)
        #expect(data.count > 300_000)
        #expect(data.starts(with: [0x89, 0x50, 0x4e, 0x47]))
    }

    @Test func followsWhatHappensUntilTheShopCloses() async throws {
        var events: [ShopEvent] = []
        for try await event in self.shop.events() { events.append(event) }
        #expect(events == [.arrived(pet: "Miso"), .arrived(pet: "보리"), .adopted(pet: "Miso"), .closed])
    }
}

import Testing

@testable import Wiretape

@Suite struct HTTPHeadersChangeTests {
    private let headers: HTTPHeaders = ["B": "1", "a": "2", "B": "3"]
    private let view: HTTPHeaders = ["A": "2", "B": "1, 3"]

    @Test func whatWasLeftAloneStays() { #expect(self.headers.changed(from: self.view, to: self.view) == self.headers) }

    @Test func changesKeepTheirPlaceAndTheSpelling() {
        #expect(self.headers.changed(from: self.view, to: ["A": "9", "B": "1, 3"]) == ["B": "1", "a": "9", "B": "3"])
        #expect(self.headers.changed(from: self.view, to: ["A": "2", "B": "7"]) == ["B": "7", "a": "2"])
    }

    @Test func whatIsGoneGoesAndNewFieldsComeLastByName() {
        #expect(self.headers.changed(from: self.view, to: ["Z": "1", "A": "2", "C": "3"]) == ["a": "2", "C": "3", "Z": "1"])
    }
}

import TapeTestSupport
import Testing
@testable import WiretapeCLI

@Suite struct QRCodeTests {
    /// The smallest code, checked with zbar.
    @Test func aTextIsTheSamePictureAlways() throws {
        let code = try #require(QRCode("x"))
        let rows = (0..<code.size).map { y in String((0..<code.size).map { code.isDark($0, y) ? "#" : "." }) }
        #expect(rows.joined(separator: "\n") == Self.picture)
    }

    private static let picture = """
        #######...#...#######
        #.....#.#...#.#.....#
        #.###.#.......#.###.#
        #.###.#....#..#.###.#
        #.###.#.##..#.#.###.#
        #.....#...#.#.#.....#
        #######.#.#.#.#######
        .........####........
        #.#.#.#...##....#..#.
        .#...#..##....#...##.
        ..##.###....#...#...#
        #.#.#....##...#...##.
        #..#..#.#.#.#.#.#.#..
        ........##.#.#.#.#..#
        #######..#.#.###.####
        #.....#..#####.###...
        #.###.#.#..#.###.##.#
        #.###.#..#....#...##.
        #.###.#.#...#...#...#
        #.....#..#....#...##.
        #######.#...#.#.#.###
        """

    @Test func aTextThatIsTooLongHasNone() {
        #expect(QRCode(String(repeating: "a", count: 180))?.size == 53)
        #expect(QRCode(String(repeating: "a", count: 181)) == nil)
    }

    @Test(
        .enabled(if: Programs.isInstalled("zbarimg"), "zbarimg is not installed"), arguments: [1, 20, 40, 60, 90, 110, 130, 150, 180])
    func aReaderOfOthersReadsEachSize(length: Int) throws {
        let text = String("http://192.0.2.1:7070/".prefix(length)) + String(repeating: "a", count: max(0, length - 22))
        let code = try #require(QRCode(text))
        let folder = try TemporaryFolder()
        let side = (code.size + 8) * 4
        var picture = "P1\n\(side) \(side)\n"
        for y in 0..<side { picture += (0..<side).map { code.isDark($0 / 4 - 4, y / 4 - 4) ? "1" : "0" }.joined(separator: " ") + "\n" }
        try folder.write(Array(picture.utf8), to: "code.pbm")
        let read = try ExternalProgram.run(try Programs.find("zbarimg"), ["--quiet", "--raw", folder.file("code.pbm")])
        #expect(read.outputText == text + "\n", "\(read.errors)")
    }

    @Test func aPhoneIsLedToAnAddressThatItReaches() {
        var page = PhoneAddress(address: "0.0.0.0:7070", credentials: "me:p@w", outside: "192.0.2.7")
        #expect(page.url == "http://192.0.2.7:7070/me:p%40w/http://wiretape.test/ca.crt")
        #expect(page.publicURL == "http://192.0.2.7:7070/http://wiretape.test/ca.crt")
        page = PhoneAddress(address: "127.0.0.1:7070", outside: "192.0.2.7")
        #expect(page.url == "http://127.0.0.1:7070/http://wiretape.test/ca.crt")
    }
}

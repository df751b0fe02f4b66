import ArgumentParser
import TapeProxy
@main struct Wiretape: ParsableCommand { func run() { print("hi") } }

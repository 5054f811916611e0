#define WIDTH 1000
#define HEIGHT 100
